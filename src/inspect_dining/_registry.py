"""What Inspect finds by name under `inspect_dining/`."""

from inspect_dining.providers.registry import dining as dining
from inspect_dining.scorers.metrics import convergence as convergence
from inspect_dining.scorers.metrics import per_size as per_size
from inspect_dining.scorers.metrics import pooled as pooled
from inspect_dining.scorers.metrics import survival as survival
from inspect_dining.scorers.scores import efficiency as efficiency
from inspect_dining.scorers.scores import idle as idle
from inspect_dining.scorers.scores import jain as jain
from inspect_dining.scorers.scores import lost_turns as lost_turns
from inspect_dining.scorers.scores import meal_variance as meal_variance
from inspect_dining.scorers.scores import no_deadlock as no_deadlock
from inspect_dining.scorers.scores import proportional as proportional
from inspect_dining.scorers.scores import reward as reward
from inspect_dining.scorers.scores import starved as starved
from inspect_dining.scorers.scores import throughput as throughput
from inspect_dining.solvers.dinner import dinner as dinner
from inspect_dining.tasks.philosophers import philosophers as philosophers

"""The environment of the processes that a training run starts: what they need, and no API keys."""

import os
import re

_NEEDED = (
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LC_\w+|XDG_\w+|LD_\w+|DYLD_\w+|PYTHON\w+|CONDA_\w+|VIRTUAL_ENV|OMP_\w+"
    r"|MKL_\w+|OPENBLAS_\w+|CUDA\w*|NVIDIA_\w+|NCCL_\w+|GLOO_\w+|ROCR?_\w+|HIP_\w+|ROCM_\w+|TORCH\w*|PYTORCH_\w+|TRITON_\w+"
    r"|VLLM_\w+|HF_\w+|HUGGING_\w+|TRANSFORMERS_\w+|TOKENIZERS_\w+|SAFETENSORS_\w+|HTTPS?_PROXY|NO_PROXY|SSL_CERT_\w+"
    r"|REQUESTS_CA_BUNDLE|CC|CXX|https?_proxy|no_proxy"
)


def inherited(more: str = "") -> dict[str, str]:
    """The environment of a child process: paths, compute settings, and access to the model hub.

    Args:
        more: A regular expression for further names that it needs.

    Returns:
        Values by name, without keys of model providers.
    """
    wanted = re.compile(f"{_NEEDED}|{more}" if more else _NEEDED)
    return {name: value for name, value in os.environ.items() if wanted.fullmatch(name)}

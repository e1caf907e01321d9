"""Write the reference of the settings, docs/settings.md, from the class that reads them.

Usage: PYTHON scripts/gen_settings.py [OUTPUT]
"""

import sys
import textwrap
from pathlib import Path

from pydantic import BaseModel

from spanwise_server.config import CONFIG_VARIABLE, PREFIX, Settings

_OUTPUT = Path(__file__).parent.parent / "docs" / "settings.md"
_HEAD = f"""# Settings of the server

For `spanwise serve`, `migrate`, `rebuild`, `delete` and `stats`. A flag wins over a `{PREFIX}*` variable, and that over the YAML file that
`--config` or `{CONFIG_VARIABLE}` names. The file holds the names of the first column:

```yaml
grpc_address: 0.0.0.0:8089
database_url: sqlite:////var/lib/spanwise/spanwise.db
```
"""


def main(output: Path) -> None:
    """Write the reference."""
    parts = [_HEAD]
    for name, field in Settings.model_fields.items():
        # One with parts has no flag, and its parts have defaults of their own.
        is_whole = not isinstance(field.default, BaseModel)
        flag = f"`--{name.replace('_', '-')}`, " if is_whole else ""
        default = field.default if is_whole else {}
        text = textwrap.fill(field.description or "", 120)
        parts.append(
            f"## {name}\n\n{flag}`{PREFIX}{name.upper()}`, default `{default}`\n\n{text}\n"
        )
    output.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else _OUTPUT)

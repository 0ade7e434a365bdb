"""Our short processes load less of msgspec, and everything that is left out still works."""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import json, sys
from ringbolt.model.quick_start import load_msgspec
load_msgspec()
import msgspec
left_out = [name for name in ("typing_extensions", "uuid", "decimal", "textwrap", "msgspec.inspect",
                              "msgspec._json_schema") if name in sys.modules]
class Point(msgspec.Struct):
    x: int
schema = msgspec.json.schema(Point)
import decimal, uuid, msgspec.inspect
kind = type(msgspec.inspect.type_info(int)).__name__
print(json.dumps([left_out, schema["$defs"]["Point"]["properties"], kind,
                  str(decimal.Decimal("1.5")), len(str(uuid.uuid4()))]))
"""


def test_what_msgspec_does_not_need_is_left_out_and_can_be_used_later():
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], {"x": {"type": "integer"}}, "IntType", "1.5", 36]


def test_a_program_that_has_loaded_msgspec_keeps_it_as_it_is():
    program = (
        "import msgspec, decimal; from ringbolt.model.quick_start import load_msgspec; load_msgspec();"
        "print(msgspec.to_builtins(decimal.Decimal('1.5')), msgspec.inspect.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.5", "msgspec.inspect"]

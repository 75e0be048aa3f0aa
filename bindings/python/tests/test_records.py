"""Run in a folder with ``events.jsonl`` and the answers of ``reflex eval`` in ``verdicts.jsonl``."""

import json
import unittest
from typing import Any

from reflex_guard_engine import judge


def lines(name: str) -> list[Any]:
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


class RecordsTest(unittest.TestCase):
    def test_every_record_has_the_verdict_of_eval(self) -> None:
        events, verdicts = lines("events.jsonl"), lines("verdicts.jsonl")
        self.assertEqual(len(events), len(verdicts))
        self.assertTrue(events)
        for event, verdict in zip(events, verdicts):
            self.assertEqual(judge(event), verdict, event["id"])


if __name__ == "__main__":
    unittest.main()

"""Run where the built wheel is installed."""

import concurrent.futures
import pathlib
import tempfile
import unittest

from reflex_guard_engine import CORE_RULES, ReflexError, RuleEngine, judge, load_rule_directory, load_rule_file, parse

RULE = {
    "name": "no-prod",
    "events": ["bash_command"],
    "conditions": [{"field": "command", "op": "contains", "pattern": "{{word}}"}],
    "action": "block",
    "message": "{{command}} names {{word}}",
}


class EngineTest(unittest.TestCase):
    def test_a_result_has_the_fields_of_the_document(self) -> None:
        engine = RuleEngine({"word": "prod"})
        engine.add_rule(RULE)
        event = {"event": "bash_command", "command": "deploy prod"}
        expected = {
            "rule": "no-prod",
            "triggered": True,
            "action": "block",
            "severity": "medium",
            "message": "deploy prod names prod",
            "matched_conditions": ["command contains {{word}}"],
        }
        self.assertEqual(engine.evaluate(event), [expected])
        self.assertEqual(engine.get_blocks(event), [expected])
        self.assertFalse(engine.is_allowed(event))
        engine.set_variable("word", ["staging"])
        self.assertTrue(engine.is_allowed(event))

    def test_rules_are_added_all_or_none_and_errors_have_a_code(self) -> None:
        engine = RuleEngine({"word": "prod"})
        wrong = {**RULE, "name": "wrong", "conditions": [{"field": "command", "op": "resembles", "pattern": "x"}]}
        with self.assertRaises(ReflexError) as raised:
            engine.add_rules([RULE, wrong])
        self.assertEqual(raised.exception.code, "ERR_INVALID_RULE")
        self.assertTrue(engine.is_allowed({"event": "bash_command", "command": "deploy prod"}))
        with self.assertRaises(ReflexError) as raised:
            RuleEngine({"word": 7})  # type: ignore[dict-item]
        self.assertEqual(raised.exception.code, "ERR_INVALID_ARGUMENT")

    def test_files_of_rules_are_loaded_with_the_place_of_an_error(self) -> None:
        rule = "name: a\nevents: [any]\nconditions:\n  - {field: command, op: contains, pattern: x}\naction: warn\n"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "below").mkdir()
            (folder / "a.yaml").write_text(rule)
            (folder / "below" / "b.yml").write_text(rule.replace("name: a", "name: b\ntier: core"))
            rules = load_rule_directory(folder, disabled_rules=["a", "b"])
            self.assertEqual(sorted((one["name"], one["enabled"]) for one in rules), [("a", False), ("b", True)])
            self.assertEqual(load_rule_file(folder / "a.yaml")["tier"], "custom")
            bad = folder / "bad.yaml"
            bad.write_text("name: bad\nevents: [bash_command]\nconditions:\n  - {field: command, op: near}\n")
            with self.assertRaises(ReflexError) as raised:
                load_rule_directory(folder)
            self.assertEqual((raised.exception.file, raised.exception.line), (str(bad), 4))

    def test_an_event_is_judged_as_eval_does(self) -> None:
        event = {"event": "pre-command", "command": "rm -rf ~", "id": 7}
        verdict = judge(event)
        self.assertEqual((verdict["decision"], verdict["id"]), ("block", 7))
        self.assertIn("home", verdict["reasons"][0])
        self.assertEqual(judge({"event": "pre-command", "command": "ls"})["decision"], "allow")
        unreadable = judge({})
        self.assertEqual(unreadable["decision"], "block")
        self.assertIn("error", unreadable)
        with self.assertRaises(ReflexError) as raised:
            judge(event, mode="brisk")
        self.assertEqual(raised.exception.code, "ERR_INVALID_ARGUMENT")

    def test_commands_and_effects_are_data(self) -> None:
        parsed = parse("sudo rm -rf build", cwd="/repo")
        removal = next(one for one in parsed["commands"] if one["name"] == "rm")
        self.assertEqual(removal["words"], ["rm", "-rf", "build"])
        deletion = next(one for one in parsed["effects"] if one["kind"] == "delete")
        self.assertEqual(deletion["targets"], ["/repo/build"])

    def test_16_threads_share_an_engine(self) -> None:
        engine = RuleEngine({"allowed_roots": "/home/user"})
        engine.add_rules(CORE_RULES)

        def blocked(index: int) -> int:
            command = "ls" if index % 2 else "rm -rf /"
            return 0 if engine.is_allowed({"event": "bash_command", "command": command}) else 1

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertEqual(sum(pool.map(blocked, range(3200))), 1600)


if __name__ == "__main__":
    unittest.main()

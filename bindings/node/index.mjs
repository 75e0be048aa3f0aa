import engine from './index.js';

export const { RuleEngine, CORE_RULES, loadRuleFile, loadRuleDirectory, judge, parse } = engine;

//! Types go, code stays where it was.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

use reflex_types::javascript;

#[track_caller]
fn check(typed: &str, plain: &str) {
    let made = javascript("a.ts", typed).unwrap();
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeeze(&made), squeeze(plain), "{typed}");
    assert_eq!(made.lines().count(), typed.lines().count(), "lines move: {typed}");
}

#[test]
fn types_are_taken_away() {
    check("let x: number = 1, y!: string;", "let x = 1, y ;");
    check("const f = <T,>(a?: T, ...b: string[]): a is T => a as unknown as T;", "const f = (a , ...b ) => a ;");
    check("function g(this: Foo, a = 1): void {}", "function g( a = 1) {}");
    check("interface A { x: 1 }\ntype B = A | 2;\n(1)", ";\n;\n(1)");
    check("x!.y!(z satisfies Q); f<string>(1); new Map<string, number>();", "x .y (z ); f (1); new Map ();");
    check("declare const q: number; declare module 'x' { } declare global { }", "; ; ;");
    check("export type { A } from './a'; export interface B {} export const c: C = 1;", "; ; export const c = 1;");
    check("function o(a: string): void; function o(a: any) { return <number>a }", "; function o(a ) { return a }");
}

#[test]
fn imports_that_only_types_use_are_none() {
    check("import type { A } from 'a'; import { B, c } from 'b'; c as B;", "; import { c } from 'b'; c ;");
    check("import { type A, b } from 'a'; b(); import 'side';", "import { b } from 'a'; b(); import 'side';");
    check("import { OnlyType } from 'a'; let x: OnlyType;", "; let x ;");
    check("import d, { Only } from 'a'; d();", "import d, { } from 'a'; d();");
}

#[test]
fn classes_keep_their_code() {
    check(
        "abstract class A<T> extends B<T> implements C, D { private readonly x: number = 1; static y?: T; \
         declare z: 1; abstract m(): void; protected async n?(): Promise<void> {} [key: string]: any; }",
        "class A extends B { x = 1; static y ; ; ; async n () {} ; }",
    );
}

#[test]
fn what_is_more_than_a_type_is_refused_with_its_line() {
    for (text, what) in [
        ("\nenum A { B }", "`enum`"),
        ("\nnamespace N { export const a = 1 }", "`namespace`"),
        ("\nclass A { constructor(private x: number) {} }", "a parameter that is a property"),
        ("\nimport a = require('a')", "`import … =`"),
    ] {
        let problem = javascript("a.ts", text).unwrap_err().to_string();
        assert!(problem.starts_with("a.ts:2: ") && problem.contains(what), "{problem}");
    }
    assert!(javascript("a.ts", "let = = 1").is_err());
    assert!(javascript("a.ts", &"(".repeat(10_000)).is_err());
    assert_eq!(javascript("a.js", "let x: number").unwrap(), "let x: number", "only what is named so is TypeScript");
}

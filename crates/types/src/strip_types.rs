//! Converts TypeScript to JavaScript: types and comments are replaced by blanks, so that source positions stay valid.
//! TypeScript syntax with runtime behavior (`enum`, `namespace`, parameter properties) is rejected by name.

use crate::error::TypesError;
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BindingPattern, Class, ClassElement, ExportAllDeclaration, ExportNamedDeclaration, FormalParameter, Function,
    IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, MethodDefinition,
    PropertyDefinition, TSAsExpression, TSEnumDeclaration, TSExportAssignment, TSGlobalDeclaration,
    TSImportEqualsDeclaration, TSIndexSignature, TSInterfaceDeclaration, TSModuleDeclaration, TSNonNullExpression,
    TSSatisfiesExpression, TSThisParameter, TSTypeAliasDeclaration, TSTypeAnnotation, TSTypeAssertion,
    TSTypeParameterDeclaration, TSTypeParameterInstantiation, VariableDeclaration, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::scope::ScopeFlags;
use std::borrow::Cow;

/// The JavaScript of a file. A file without a TypeScript extension is returned unchanged.
///
/// # Errors
/// The file is not valid TypeScript, or uses syntax with runtime behavior.
pub fn javascript<'t>(path: &str, text: &'t str) -> Result<Cow<'t, str>, TypesError> {
    let typed = [".ts", ".mts", ".cts"].iter().any(|end| path.ends_with(end));
    if !typed {
        return Ok(Cow::Borrowed(text));
    }
    if text.len() > MAX_BYTES {
        return Err(TypesError::TooLarge { path: path.into(), max_bytes: MAX_BYTES });
    }
    if nesting(text) > DEEPEST {
        return Err(TypesError::TooDeep(path.into()));
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    if let Some(error) = parsed.errors.into_iter().next() {
        return Err(TypesError::Syntax { path: path.into(), source: Box::new(error) });
    }
    let mut eraser = Eraser { text, cuts: Vec::new(), used: Vec::new(), imports: Vec::new(), refused: None };
    eraser.visit_program(&parsed.program);
    eraser.unused_imports();
    parsed.program.comments.iter().for_each(|comment| eraser.cut(comment.span.start, comment.span.end));
    match eraser.refused {
        Some((syntax, at)) => {
            let line = text.get(..at as usize).unwrap_or("").matches('\n').count() + 1;
            Err(TypesError::MoreThanType { path: path.into(), line, syntax })
        }
        None => Ok(Cow::Owned(without(text, eraser.cuts))),
    }
}

/// Maximum size of a file in bytes. Handwritten modules are smaller.
const MAX_BYTES: usize = 1 << 20;

/// Maximum depth of brackets. The parser recurses for each bracket, and its stack is limited.
const DEEPEST: usize = 200;

/// Maximum depth of brackets, including those in strings and comments.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The text with blanks in place of the cuts. Line breaks are kept.
fn without(text: &str, mut cuts: Vec<Cut>) -> String {
    cuts.sort_by_key(|cut| (cut.span.start, std::cmp::Reverse(cut.span.end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0usize;
    for Cut { span, ends } in cuts {
        let (start, end) = (span.start as usize, span.end as usize);
        if start < at || end <= start {
            continue;
        }
        out.push_str(text.get(at..start).unwrap_or(""));
        let removed = text.get(start..end).unwrap_or("");
        let mut chars = removed.chars();
        if ends {
            out.push(';');
            chars.next();
        }
        chars.for_each(|ch| out.push(if ch == '\n' || ch == '\r' { ch } else { ' ' }));
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// A part to erase.
struct Cut {
    span: Span,
    /// Whether to put a semicolon in its place, so that the code before and after it stays separate.
    ends: bool,
}

/// An imported name, if it is imported as a value, and its span.
type Named = (Option<String>, Span);

struct Eraser<'t> {
    text: &'t str,
    cuts: Vec<Cut>,
    /// Names that are used as values.
    used: Vec<String>,
    /// Imports: the full span, and each name with its span.
    imports: Vec<(Span, Vec<Named>)>,
    refused: Option<(&'static str, u32)>,
}

impl Eraser<'_> {
    fn cut(&mut self, start: u32, end: u32) {
        self.cuts.push(Cut { span: Span::new(start, end), ends: false });
    }

    fn cut_all(&mut self, span: Span) {
        self.cuts.push(Cut { span, ends: true });
    }

    fn refuse(&mut self, what: &'static str, span: Span) {
        self.refused.get_or_insert((what, span.start));
    }

    fn between(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    /// Cuts a sign between two positions: the `?` of an optional member, the `!` of a definite assignment.
    fn cut_sign(&mut self, sign: char, start: u32, end: u32) {
        if let Some(at) = self.between(start, end).find(sign) {
            let at = start + u32::try_from(at).unwrap_or(0);
            self.cut(at, at + 1);
        }
    }

    /// Cuts TypeScript's own modifiers, such as `readonly`, before the name of a member.
    fn cut_words(&mut self, start: u32, end: u32) {
        const WORDS: [&str; 7] = ["public", "private", "protected", "readonly", "abstract", "override", "declare"];
        let mut found = Vec::new();
        let part = self.between(start, end);
        for word in part.split(|ch: char| !ch.is_ascii_alphabetic()) {
            if WORDS.contains(&word) {
                let at = word.as_ptr() as usize - part.as_ptr() as usize;
                found.push((at, at + word.len()));
            }
        }
        for (from, to) in found {
            let place = |offset: usize| start + u32::try_from(offset).unwrap_or(0);
            self.cut(place(from), place(to));
        }
    }

    /// Cuts imports that are only used as types.
    fn unused_imports(&mut self) {
        for (statement, names) in std::mem::take(&mut self.imports) {
            let is_used = |name: &Option<String>| name.as_ref().is_some_and(|name| self.used.contains(name));
            if !names.is_empty() && !names.iter().any(|(name, _)| is_used(name)) {
                self.cut_all(statement);
                continue;
            }
            let unused: Vec<Span> = names.iter().filter(|(name, _)| !is_used(name)).map(|(_, span)| *span).collect();
            unused.into_iter().for_each(|span| self.cut_listed(span));
        }
    }

    /// Cuts an item of a list, including the comma after it.
    fn cut_listed(&mut self, span: Span) {
        let rest = self.text.get(span.end as usize..).unwrap_or("");
        let blank = rest.len() - rest.trim_start().len();
        let comma = rest.trim_start().starts_with(',');
        let end = if comma { span.end + u32::try_from(blank).unwrap_or(0) + 1 } else { span.end };
        self.cut(span.start, end);
    }
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if !self.used.iter().any(|name| name == it.name.as_str()) {
            self.used.push(it.name.to_string());
        }
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            return self.cut_all(it.span);
        }
        let Some(specifiers) = &it.specifiers else { return };
        let name = |one: &ImportDeclarationSpecifier<'a>| match one {
            ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind == ImportOrExportKind::Type => None,
            ImportDeclarationSpecifier::ImportSpecifier(_)
            | ImportDeclarationSpecifier::ImportDefaultSpecifier(_)
            | ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => Some(one.name().to_string()),
        };
        self.imports.push((it.span, specifiers.iter().map(|one| (name(one), one.span())).collect()));
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        if it.export_kind == ImportOrExportKind::Type {
            return self.cut_all(it.span);
        }
        let is_type = it.declaration.as_ref().is_some_and(|declared| declared.declare() || declared.is_type());
        if is_type {
            return self.cut_all(it.span);
        }
        for one in &it.specifiers {
            if one.export_kind == ImportOrExportKind::Type {
                self.cut_listed(one.span);
            }
        }
        walk::walk_export_named_declaration(self, it);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        if it.export_kind == ImportOrExportKind::Type {
            self.cut_all(it.span);
        }
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.cut(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.cut(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.cut(it.span.start, it.span.end);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.cut(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.cut(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.cut(it.expression.span().end, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.visit_expression(&it.expression);
        self.cut(it.span.start, it.expression.span().start);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.cut_all(it.span);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.cut_all(it.span);
    }

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.cut_all(it.span);
    }

    fn visit_ts_global_declaration(&mut self, it: &TSGlobalDeclaration<'a>) {
        self.cut_all(it.span);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        if it.declare { self.cut_all(it.span) } else { self.refuse("`enum`", it.span) }
    }

    fn visit_ts_module_declaration(&mut self, it: &TSModuleDeclaration<'a>) {
        if it.declare { self.cut_all(it.span) } else { self.refuse("`namespace`", it.span) }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.refuse("`import … =`", it.span);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse("`export =`", it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.cut_listed(it.span);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.declare { self.cut_all(it.span) } else { walk::walk_variable_declaration(self, it) }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.cut_sign('!', name_end(&it.id), it.span.end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.declare || it.body.is_none() {
            return self.cut_all(it.span);
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            return self.refuse("a parameter that is a property", it.span);
        }
        if it.optional {
            self.cut_sign('?', name_end(&it.pattern), it.span.end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.declare {
            return self.cut_all(it.span);
        }
        let after_name = it.id.as_ref().map_or(it.span.start, |id| id.span.end);
        if it.r#abstract {
            self.cut_words(it.span.start, after_name);
        }
        let after_super = it.super_class.as_ref().map_or(after_name, |above| above.span().end);
        if let Some(at) =
            self.between(after_super, it.body.span.start).find("implements").filter(|_| !it.implements.is_empty())
        {
            self.cut(after_super + u32::try_from(at).unwrap_or(0), it.body.span.start);
        }
        walk::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        let abstracted = it.type_is_abstract();
        if abstracted { self.cut_all(it.span()) } else { walk::walk_class_element(self, it) }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.value.body.is_none() {
            return self.cut_all(it.span);
        }
        self.cut_words(it.span.start, it.key.span().start);
        if it.optional {
            self.cut_sign('?', it.key.span().end, it.span.end);
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.declare {
            return self.cut_all(it.span);
        }
        self.cut_words(it.span.start, it.key.span().start);
        let sign = if it.optional {
            Some('?')
        } else if it.definite {
            Some('!')
        } else {
            None
        };
        if let Some(sign) = sign {
            self.cut_sign(sign, it.key.span().end, it.span.end);
        }
        walk::walk_property_definition(self, it);
    }
}

/// Position after which the `!` or `?` of a declaration is searched: the start of its pattern.
fn name_end(pattern: &BindingPattern<'_>) -> u32 {
    pattern.span().start
}

/// Whether a member of a class is abstract, and so has no code.
trait Abstract {
    fn type_is_abstract(&self) -> bool;
}

impl Abstract for ClassElement<'_> {
    fn type_is_abstract(&self) -> bool {
        match self {
            ClassElement::MethodDefinition(one) => one.r#type.is_abstract(),
            ClassElement::PropertyDefinition(one) => one.r#type.is_abstract(),
            ClassElement::StaticBlock(_) | ClassElement::AccessorProperty(_) | ClassElement::TSIndexSignature(_) => {
                false
            }
        }
    }
}

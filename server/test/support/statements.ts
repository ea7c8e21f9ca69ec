/**
 * Every SQL statement of the product, found in its source. Each module with SQL is loaded a second time with its literals wrapped, so
 * that each literal reports the texts it makes: constants when the module loads, literals inside functions from what the module
 * itself knows, and the rest from examples. Nothing is listed by file, so statements may move.
 */
import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

const SOURCES = join(import.meta.dirname, '../../src')
/** Tests, and entries of threads, which begin to work when they are loaded; they name no table. */
const NOT_LOADED = ['**/*.test.ts', '**/*.timing.ts', '**/*-worker.ts']

const VERBS =
  'WITH|SELECT|INSERT INTO|UPDATE|DELETE FROM|MERGE INTO|VALUES|CREATE|ALTER|DROP|TRUNCATE|LOCK TABLE|DECLARE|FETCH|SET LOCAL'
const STATEMENT = new RegExp(String.raw`^\s*(?:${VERBS})\s`)
/** Small letters also begin sentences: they count only in modules that run statements. */
const SMALL_STATEMENT = new RegExp(STATEMENT, 'i')
const CLAUSE =
  /\b(?:FROM|WHERE|JOIN|ORDER BY|GROUP BY|FOR UPDATE|RETURNING|SELECT|INSERT INTO|UPDATE|SET|VALUES)\b/
const RUNS_STATEMENTS = /query[(<]/

/** Values for the local names of a literal, as JavaScript that is evaluated in the literal's module. */
export interface Example {
  /** An excerpt of the literal's source. */
  readonly of: string
  /** Each value of one name is tried with each value of the others. A value may use the names before it. */
  readonly with: Readonly<Record<string, readonly string[]>>
}

export interface SqlLiteral {
  /** `stores/postgres/audit.ts:31` */
  readonly place: string
  readonly source: string
  readonly texts: Set<string>
  /** Why an evaluation failed. */
  problem?: unknown
}

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

interface Found {
  readonly node: SyntaxNode
  /** Loading the module does not evaluate it. */
  readonly isInFunction: boolean
}

/** The loaded modules reach it by this name. */
const REPORTER = 'reportSqlLiteral'
const SUFFIX = '?sql'

/** Of the TypeScript files below a folder. */
export async function sqlLiterals(examples: readonly Example[], folder = SOURCES): Promise<SqlLiteral[]> {
  const literals: SqlLiteral[] = []
  const modules = new Map<string, string>()
  for (const file of globSync('**/*.ts', { cwd: folder, exclude: NOT_LOADED })) {
    const text = readFileSync(join(folder, file), 'utf8')
    const found = RUNS_STATEMENTS.test(text) || CLAUSE.test(text) ? literalsIn(text) : []
    if (found.length === 0) continue
    const from = literals.length
    for (const { node } of found) {
      const line = text.slice(0, node.start).split('\n').length
      literals.push({ place: `${file}:${line}`, source: sourceOf(text, node), texts: new Set() })
    }
    const calls = found.flatMap((one, index) => evaluations(text, one, from + index, examples))
    modules.set(pathToFileURL(join(folder, file)).href, [wrapped(text, found, from), ...calls].join('\n'))
  }
  await loadWith(literals, modules)
  return literals
}

async function loadWith(
  literals: readonly SqlLiteral[],
  modules: ReadonlyMap<string, string>,
): Promise<void> {
  const report = (index: number, text: unknown, problem?: unknown): unknown => {
    const literal = literals[index]
    if (literal && typeof text === 'string') literal.texts.add(text)
    if (literal && problem !== undefined) literal.problem = problem
    return text
  }
  Object.assign(globalThis, { [REPORTER]: report })
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const isAmongThem = context.parentURL?.endsWith(SUFFIX) === true && modules.has(resolved.url)
      return isAmongThem ? { ...resolved, url: resolved.url + SUFFIX } : resolved
    },
    load(url, context, next) {
      const source = url.endsWith(SUFFIX) ? modules.get(url.slice(0, -SUFFIX.length)) : undefined
      return source === undefined
        ? next(url, context)
        : { format: 'module-typescript', source, shortCircuit: true }
    },
  })
  try {
    for (const url of modules.keys()) await import(url + SUFFIX)
  } finally {
    hooks.deregister()
    Reflect.deleteProperty(globalThis, REPORTER)
  }
}

function literalsIn(text: string): Found[] {
  const found: Found[] = []
  const verb = RUNS_STATEMENTS.test(text) ? SMALL_STATEMENT : STATEMENT
  const visit = (value: unknown, isInFunction: boolean, isRun = false): void => {
    if (Array.isArray(value)) return value.forEach((one) => visit(one, isInFunction))
    if (!isSyntaxNode(value) || value.type === 'TSLiteralType') return
    const head = headOf(value)
    if (head !== undefined && (isRun || isSql(head, verb))) {
      found.push({ node: value, isInFunction })
      if (value.type === 'BinaryExpression') return
    }
    const inside = isInFunction || /Function|PropertyDefinition/.test(value.type)
    for (const [field, child] of Object.entries(value)) {
      if (field !== 'arguments' || !isQuery(value)) visit(child, inside)
      else (child as unknown[]).forEach((argument, index) => visit(argument, inside, index === 0))
    }
  }
  visit(parseAst(text, { lang: 'ts' }), false)
  return found
}

function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** `database.query(…)`, `this.#query(…)` */
function isQuery(node: SyntaxNode): boolean {
  const callee = node['callee'] as { readonly property?: { readonly name?: string } } | undefined
  return node.type === 'CallExpression' && callee?.property?.name === 'query'
}

/** The fixed parts of a literal; of a sum, those of its first term. Undefined: no text. */
function headOf(node: SyntaxNode): readonly string[] | undefined {
  if (node.type === 'BinaryExpression' && node['operator'] === '+') return headOf(node['left'] as SyntaxNode)
  if (node.type === 'Literal' && typeof node['value'] === 'string') return [node['value']]
  if (node.type !== 'TemplateLiteral') return undefined
  return (node['quasis'] as { readonly value: { readonly cooked: string } }[]).map(
    ({ value }) => value.cooked,
  )
}

/** What begins with a value, such as `${SELECT} WHERE …`, is known by its other words. */
function isSql([first = '', ...more]: readonly string[], verb: RegExp): boolean {
  return verb.test(first) || (first.trim() === '' && CLAUSE.test(more.join(' ')))
}

function sourceOf(text: string, { start, end }: SyntaxNode): string {
  return text.slice(start, end)
}

/** Each literal becomes `reportSqlLiteral(index, literal)`. Templates may stand inside one another. */
function wrapped(text: string, found: readonly Found[], from: number): string {
  const inserted = found.flatMap(({ node }, index) => [
    { at: node.start, text: `${REPORTER}(${from + index}, ` },
    { at: node.end, text: ')' },
  ])
  const places = inserted.toSorted((a, b) => a.at - b.at)
  return (
    places.map(({ at, text: added }, index) => text.slice(places[index - 1]?.at ?? 0, at) + added).join('') +
    text.slice(places.at(-1)?.at)
  )
}

/** Statements that evaluate a literal of a function in the scope of its module. */
function evaluations(
  text: string,
  { node, isInFunction }: Found,
  index: number,
  examples: readonly Example[],
): string[] {
  const source = sourceOf(text, node)
  const given = examples
    .filter(({ of }) => source.includes(of))
    .flatMap((example) => combinations(Object.entries(example.with)))
  if (!isInFunction) return []
  return (given.length === 0 ? [[]] : given).map((bindings) => {
    const value = bindings.reduceRight(
      (inner, [name, bound]) => `((${name}: any) => ${inner})(${bound})`,
      source,
    )
    return `try { ${REPORTER}(${index}, ${value}) } catch (problem) { ${REPORTER}(${index}, undefined, problem) }`
  })
}

type Binding = readonly [name: string, value: string]

function combinations([first, ...others]: readonly (readonly [string, readonly string[]])[]): Binding[][] {
  if (first === undefined) return [[]]
  const rest = combinations(others)
  const [name, values] = first
  return values.flatMap((value) => rest.map((bindings): Binding[] => [[name, value], ...bindings]))
}

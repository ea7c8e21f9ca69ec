/** docs/configuration.md, from the schema that the code checks with. */
import { builtInFacts } from '#config/build/facts.ts'
import { environmentVariables, type Variable } from '#config/variables.ts'
import { branchesOf, isSchema, type JsonSchema } from '#config/file/json-schema.ts'
import { schemaOfFile } from '#config/schema/json.ts'
import { exampleFile } from './example.ts'

export function configurationMarkdown(): string {
  const sections = Object.entries(schemaOfFile().properties ?? {}).map(([name, schema]) => {
    const rows = isSchema(schema) ? [...rowsOf(schema, name, false)].slice(1) : []
    const description = isSchema(schema) ? schema.description : ''
    const unique = new Map(rows.map((row) => [row.path, row]))
    return [
      `### \`${name}\``,
      '',
      description,
      '',
      ...table(['field', 'type', 'default', 'meaning'], cells([...unique.values()])),
    ]
  })
  return `${[
    '<!-- Made by `npm run generate` from server/src/config; change it there. -->',
    '# Configuration',
    '',
    'Torana reads its environment and one file, `torana.yaml`. A first start needs neither. Torana reports every mistake of the file at',
    'once, with line and column, and refuses fields that it does not know. Its log has a warning for each',
    'environment variable `TORANA_…` that it does not know, with the one you may have meant. It ignores all other variables.',
    '',
    '## Environment',
    '',
    ...table(['variable', 'default', 'meaning'], environmentRows()),
    '',
    'An empty variable counts as unset. Variables marked with * are secrets: `<NAME>_FILE` may name a file with the value (without the',
    'newline at its end). Do not set both.',
    '',
    "Node's own variables work too, such as `NODE_EXTRA_CA_CERTS` for your own certificate authorities.",
    '',
    '## torana.yaml',
    '',
    ...FILE_NOTES,
    `**Providers** with built-in facts: ${[...builtInFacts().keys()].map(code).join(', ')}.`,
    '',
    ...sections.flatMap((lines) => [...lines, '']),
    '## Example',
    '',
    '```yaml',
    exampleFile.trimEnd(),
    '```',
  ].join('\n')}\n`
}

const FILE_NOTES = [
  '`torana check` lists the mistakes of a file, or shows what it declares. `torana init` prints a file to start from. `torana schema`',
  'prints the JSON Schema for editors.',
  '',
  '**Variables.** In any value, `${VAR}` is replaced by the variable, or by the content of the file that `VAR_FILE` names. If neither is',
  'set, it is an error.',
  '',
  '| written | meaning |',
  '|---|---|',
  '| `${VAR:-default}` | a default if the variable is unset or empty |',
  '| `${VAR:?message}` | your own error message if it is unset or empty |',
  '| `$$` | a literal dollar |',
  '',
  'Keys of the file cannot contain variables. The value of a variable is never read as YAML: it is text, or a number or `true`/`false`',
  'if the field needs one. Inside `{ }` other YAML tools need quotes around `"${VAR}"`; Torana reads both.',
  '',
  '**Facts.** Torana knows the limits, widths and prices of well-known models (`server/catalog`). For a deployment it uses, in this',
  'order: its own `capabilities`, the facts of its provider and model, the facts of its provider, careful defaults. The price is its',
  "own, the model's, the built-in one, or else `unpriced`. With a file, Torana also serves models connected in the console; the demo models and the demo key are off.",
  '',
  '**Changes.** Torana looks at the file every second and on `SIGHUP`, and reads it again after a change. If the file has a mistake,',
  'Torana logs it and keeps the last good version. The same holds for each file that a `VAR_FILE` of its variables names: a rotated',
  'secret is in use within seconds, and one that is missing or empty changes nothing. Changed `limits`,',
  '`playground` and `cors` take effect at the next start.',
  '',
]

interface Row {
  readonly path: string
  readonly schema: JsonSchema
  readonly required: boolean
}

function* rowsOf(schema: JsonSchema, path: string, required: boolean): Generator<Row> {
  yield { path, schema, required }
  const branches = branchesOf(schema)
  const mappings = branches.filter((branch) => branch.properties)
  for (const branch of branches) {
    for (const [key, value] of Object.entries(branch.properties ?? {})) {
      // A field of one of two alternative mappings is not always required.
      const isNeeded = mappings.every((mapping) => mapping.required?.includes(key))
      if (isSchema(value)) yield* rowsOf(value, `${path}.${key}`, isNeeded)
    }
    const entry = branch.additionalProperties
    const entryName = path === 'models' || path === 'retired' ? '<id>' : '<name>'
    // Entries are described by their fields; they need no rows of their own.
    if (isSchema(entry) && hasFields(entry)) yield* [...rowsOf(entry, `${path}.${entryName}`, false)].slice(1)
    if (isSchema(branch.items) && hasFields(branch.items)) {
      yield* [...rowsOf(branch.items, `${path}[]`, false)].slice(1)
    }
  }
}

function cells(rows: readonly Row[]): string[][] {
  return rows.map(({ path, schema, required }) => [
    code(path),
    typeText(schema),
    required
      ? '**required**'
      : schema.default === undefined
        ? ''
        : code(JSON.stringify(schema.default).replaceAll('"', '')),
    schema.description ?? '',
  ])
}

function environmentRows(): string[][] {
  return Object.entries<Variable>(environmentVariables).map(([name, variable]) => [
    code(name) + (variable.secret ? ' *' : ''),
    variable.default === undefined ? '' : code(variable.default),
    variable.description,
  ])
}

function typeText(schema: JsonSchema): string {
  if (schema.anyOf) return [...new Set(branchesOf(schema).map(typeText))].join(' or ')
  if (schema.const !== undefined) return code(String(schema.const))
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ')
  switch (schema.type) {
    case 'integer':
      return `whole number${boundsText(schema)}`
    case 'boolean':
      return '`true`, `false`'
    case 'array':
      return isSchema(schema.items) && !hasFields(schema.items) ? `list of ${typeText(schema.items)}` : 'list'
    case 'object':
      return 'mapping'
    case 'string':
      return schema.format === 'uri' ? 'URL' : 'text'
    default:
      return [schema.type ?? 'anything'].flat().join(' or ').replace('string', 'text')
  }
}

function boundsText({ minimum, maximum }: JsonSchema): string {
  if (minimum === undefined) return ''
  return maximum === undefined ? ` ≥ ${minimum}` : ` ${minimum}–${maximum}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (row: readonly string[]) =>
    `| ${row.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)]
}

function code(text: string): string {
  return `\`${text}\``
}

function hasFields(schema: JsonSchema): boolean {
  return branchesOf(schema).some((branch) => branch.properties !== undefined)
}

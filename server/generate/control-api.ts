/** The page for people about the control API, made from its OpenAPI document. */

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface Operation {
  readonly summary?: string
  readonly 'x-permission'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses?: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
        readonly description?: string
      }
    >
  >
}

export interface ControlDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const HEAD = `<!-- Made by \`npm run generate\` from contract/control.openapi.json: do not edit. -->

# The control API

Everything that the console shows and does, and everything that the command \`torana\` does, is a route of this API. It answers on the
private control port, under \`/api/v1\`, with \`Authorization: Bearer <token>\` or with the cookie of the console.

- Names are in snake_case, times are ISO 8601 in UTC, money is text with nine decimals: \`"0.000651920"\`.
- Lists are \`{ data, has_more, next }\`. Ask for the next page with \`?after=\` and what \`next\` said.
- Each route names its **permission**. [Roles](access.md#roles) have permissions; a developer has them for its own projects only.
  \`signed-in\`: every member and token. \`anyone\`: before the sign-in.
- Faults have the same form as those of the gateway: [errors](errors.md).
- The same as OpenAPI 3.1: \`GET /docs/openapi.json\` on the control port, and [contract/control.openapi.json](../contract/control.openapi.json).
`

export function controlReference({ paths, components }: ControlDocument): string {
  const rooms = Map.groupBy(Object.entries(paths), ([path]) => roomOf(path))
  const sections = [...rooms]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([room, routes]) => {
      const parts = routes.flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => routeText(method, path, operation)),
      )
      return `## ${room}\n\n${parts.join('\n')}`
    })
  const shapes = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Error')
    .map(([name, schema]) => `### ${name}\n\n${shapeText(schema)}`)
  return `${HEAD}\n${sections.join('\n')}\n## Shapes\n\n${shapes.join('\n')}`
}

/** `/api/v1/keys/{project}/{name}` → `keys`. */
function roomOf(path: string): string {
  return path.split('/')[3] ?? path
}

function routeText(method: string, path: string, operation: Operation): string {
  const shown = path.replace('/api/v1', '')
  const facts = [`permission \`${operation['x-permission'] ?? ''}\``]
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema
  if (body) facts.push(`takes ${typeText(body)}`)
  const [status, answer] = Object.entries(operation.responses ?? {}).find(([code]) => code < '400') ?? []
  const schema = Object.entries(answer?.content ?? {})[0]
  if (status) facts.push(`answers ${status}${schema?.[1].schema ? ` ${typeText(schema[1].schema)}` : ''}`)
  const parameters = (operation.parameters ?? []).filter((one) => one.in === 'query')
  const rows = parameters.map(
    ({ name, required, schema: of = {}, description }) =>
      `| \`${name}\`${required ? ' (required)' : ''} | ${typeText(of)} | ${cell(description ?? of.description ?? '')} |`,
  )
  const table = rows.length === 0 ? '' : `\n| parameter | takes | |\n|---|---|---|\n${rows.join('\n')}\n`
  return `### \`${method.toUpperCase()} ${shown}\`\n\n${operation.summary ?? ''}.\n\n${facts.join(' · ')}\n${table}`
}

function shapeText(schema: Schema): string {
  if (!schema.properties) return `${typeText(schema)}${schema.description ? `: ${schema.description}` : ''}\n`
  const rows = Object.entries(schema.properties).map(([name, of]) => {
    const isOptional = !schema.required?.includes(name)
    return `| \`${name}\`${isOptional ? ' (optional)' : ''} | ${typeText(of)} | ${cell(of.description ?? '')} |`
  })
  return `| field | is | |\n|---|---|---|\n${rows.join('\n')}\n`
}

/** Alternatives of an inline object would be longer than the table around them. */
const MAX_ALTERNATIVES = 12

function typeText(schema: Schema): string {
  const { $ref, anyOf, oneOf, allOf } = schema
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? ''
    return `[${name}](#${name.toLowerCase()})`
  }
  const either = anyOf ?? oneOf ?? allOf
  if (either) return [...new Set(either.map(typeText))].join(' or ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum)
    return schema.enum
      .slice(0, MAX_ALTERNATIVES)
      .map((one) => `\`${String(one)}\``)
      .join(', ')
  if (schema.items) return `list of ${typeText(schema.items)}`
  if (schema.properties)
    return `{ ${Object.entries(schema.properties)
      .map(([name, of]) => `${name}: ${typeText(of)}`)
      .join(', ')} }`
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type ?? 'any')
  return schema.default === undefined ? type : `${type}, default \`${JSON.stringify(schema.default)}\``
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')
}

/** The operations of an OpenAPI document of ours. */
import { readFileSync } from 'node:fs'

/** A JSON schema, as far as tests look at it. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}

export interface Operation {
  readonly id: string
  readonly method: string
  /** `/v1/files/{id}` */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** The content types of its body; empty: it has none. */
  readonly consumes: readonly string[]
  /** The fields of its JSON body. */
  readonly fields: Readonly<Record<string, Schema>>
  readonly statuses: ReadonlySet<number>
  /** The codes of faults that each status lists. */
  readonly codes: ReadonlyMap<number, readonly string[]>
  /** Permission that a caller of the control API needs. */
  readonly permission: string | undefined
}

interface Written {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
  readonly 'x-permission'?: string
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Written>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, { readonly description: string }>>
  }
}

export function operationsOf(name: 'gateway' | 'control'): readonly Operation[] {
  const file = new URL(`../../../contract/${name}.openapi.json`, import.meta.url)
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as Document
  const fieldsOf = ({ $ref, allOf = [], anyOf = [], properties = {} }: Schema): Operation['fields'] => {
    const named = $ref === undefined ? undefined : components.schemas[$ref.split('/').at(-1) ?? '']
    const parts = [...allOf, ...anyOf, ...(named === undefined ? [] : [named])].map(fieldsOf)
    return Object.assign({}, ...parts, properties) as Operation['fields']
  }
  const codesOf = ($ref: string): readonly string[] =>
    components.responses[$ref.split('/').at(-1) ?? '']?.description.split(', ') ?? []
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, written]): Operation => {
      const content = written.requestBody?.content ?? {}
      const json = content['application/json']?.schema
      return {
        id: written.operationId,
        method: method.toUpperCase(),
        path,
        parameters: written.parameters ?? [],
        consumes: Object.keys(content),
        fields: json === undefined ? {} : fieldsOf(json),
        statuses: new Set(Object.keys(written.responses).map(Number)),
        codes: new Map(
          Object.entries(written.responses).flatMap(([status, { $ref }]) =>
            $ref === undefined ? [] : [[Number(status), codesOf($ref)] as const],
          ),
        ),
        permission: written['x-permission'],
      }
    }),
  )
}

/** Values as people would write them in torana.yaml: fields in the order of its schema, short mappings on one line. */
import { Scalar, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from 'yaml'
import { isRecord } from '#core/text/record.ts'
import { model } from '../schema/schema.ts'
import { upstream } from '../schema/upstream.ts'

const FIELDS = {
  upstream: Object.keys(upstream.shape),
  model: Object.keys(model.shape),
  deployment: Object.keys(model.shape.deployments.element.shape),
} as const

/** The fields of an entry in the order of the schema. */
export function inOrder(
  of: keyof typeof FIELDS,
  entry: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const order: readonly string[] = FIELDS[of]
  const fields = Object.entries(entry).toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      of === 'model' && name === 'deployments' && Array.isArray(value)
        ? value.map((one: unknown) => (isRecord(one) ? inOrder('deployment', one) : one))
        : value,
    ]),
  )
}

/** An upstream, a model or a deployment: each field on a line of its own. */
export function entryNode(document: Document, entry: Readonly<Record<string, unknown>>): YAMLMap {
  const node = document.createNode(escaped(entry)) as YAMLMap
  for (const { value } of node.items) shorten(value)
  return node
}

export function fieldNode(document: Document, value: unknown): Node {
  const node = document.createNode(escaped(value)) as Node
  shorten(node)
  return node
}

export function variableNode(name: string): Scalar {
  const scalar = new Scalar(`\${${name}}`)
  scalar.type = Scalar.QUOTE_SINGLE
  return scalar
}

/** Puts what holds nothing but single values on one line. */
function shorten(node: unknown): void {
  if (isSeq(node)) {
    node.flow = node.items.every(isShort)
    for (const item of node.items) if (isMap(item)) for (const { value } of item.items) shorten(value)
  } else if (isMap(node)) {
    node.flow = node.items.every(({ value }) => isShort(value))
    if (!node.flow) for (const { value } of node.items) shorten(value)
  }
}

/** A brace inside of braces could be taken for the end of a variable. */
function isShort(node: unknown): boolean {
  return isScalar(node) && !/[{}]/.test(String(node.value))
}

/** Values of the store are no references to variables: their dollars are doubled. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('$', '$$$$')
  if (Array.isArray(value)) return value.map(escaped)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, escaped(part)]))
}

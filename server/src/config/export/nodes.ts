/** Values as people would write them in torana.yaml: fields in the order of its schema, short mappings on one line. */
import { Scalar, isMap, isScalar, isSeq, type Document, type Node } from 'yaml'
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

/** Values of the store are no references to variables: their dollars are doubled. */
export function entryNode(document: Document, value: unknown): Node {
  const node = document.createNode(escaped(value)) as Node
  if (isMap(node)) for (const { value: field } of node.items) shorten(field)
  else shorten(node)
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
    node.flow = node.items.every((item) => isScalar(item))
    for (const item of node.items) if (isMap(item)) for (const { value } of item.items) shorten(value)
  } else if (isMap(node)) {
    node.flow = node.items.every(({ value }) => isScalar(value))
    if (!node.flow) for (const { value } of node.items) shorten(value)
  }
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('$', '$$$$')
  if (Array.isArray(value)) return value.map(escaped)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, escaped(part)]))
}

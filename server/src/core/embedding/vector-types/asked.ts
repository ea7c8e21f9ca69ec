/** The types that a request asks for: `output_dtype`, and the fields of Cohere and Jina for the same. */
import { Fault } from '../../fault/fault.ts'
import { shown } from '../../fault/shown.ts'
import { isVectorType, VECTOR_TYPES, type VectorType } from '../../catalog/vector-type.ts'

export interface AskedTypes {
  /** The field that named them, for messages. */
  readonly field: string
  /** At least one, each once. */
  readonly types: readonly VectorType[]
}

/** `output_dtype` of Voyage and Mistral, `embedding_types` of Cohere, `embedding_type` of Jina. */
export const TYPE_FIELDS = ['output_dtype', 'embedding_types', 'embedding_type'] as const

interface Asked {
  /** Undefined: float alone. */
  readonly types: AskedTypes | undefined
  /** A field of a provider asked for base64 of float32, which is a form and no type. */
  readonly wantsBase64: boolean
}

const FLOAT_ALONE: Asked = { types: undefined, wantsBase64: false }

export function typesIn(body: Readonly<Record<string, unknown>>): Asked {
  let asked: (AskedTypes & Pick<Asked, 'wantsBase64'>) | undefined
  for (const field of TYPE_FIELDS) {
    const value = body[field]
    if (value === undefined || value === null) continue
    const read = readField(field, value)
    if (asked !== undefined && asked.types.join() !== read.types.join())
      throw new Fault(
        'invalid_parameter',
        `'${asked.field}' asks for ${asked.types.join(' and ')}, '${field}' for ${read.types.join(' and ')}. Send one of the two.`,
        { param: field },
      )
    asked ??= read
  }
  if (asked === undefined) return FLOAT_ALONE
  const isFloatAlone = asked.types.length === 1 && asked.types[0] === 'float'
  const { field, types, wantsBase64 } = asked
  return { types: isFloatAlone ? undefined : { field, types }, wantsBase64: isFloatAlone && wantsBase64 }
}

function readField(field: string, value: unknown): AskedTypes & Pick<Asked, 'wantsBase64'> {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  // One value has one type: a list in `output_dtype` is a request of another API.
  if (Array.isArray(value) !== (field === 'embedding_types') || values.length === 0) throw wrong(field, value)
  const types = new Set<VectorType>()
  for (const one of values) types.add(typeOf(field, one))
  return { field, types: [...types], wantsBase64: !values.includes('float') && values.includes('base64') }
}

function typeOf(field: string, value: unknown): VectorType {
  if (isVectorType(value)) return value
  if (value === 'float32') return 'float'
  if (value === 'base64' && field !== 'output_dtype') return 'float'
  throw wrong(field, value)
}

function wrong(field: string, value: unknown): Fault {
  const names = VECTOR_TYPES.map((type) => `'${type}'`).join(', ')
  const form = field === 'embedding_types' ? 'A list of one or more of' : 'Supported values:'
  return new Fault('invalid_parameter', `Invalid value for '${field}': ${shown(value)}. ${form} ${names}.`, {
    param: field,
  })
}

import type { Form, Part } from '../../form.ts'
import { isFields, Refusal, unknownFields, type Fields } from '../../wire.ts'
import { bounded, pictureOf, type Given } from '../given.ts'
import type { ImageQuestion } from '../image-question.ts'
import { choiceField } from '../image-wire.ts'
import { knownByOpenai, openaiImageQuestion } from './openai-question.ts'

const known = [
  ...knownByOpenai.filter((name) => name !== 'style'),
  'input_fidelity',
  'image',
  'image[]',
  'images',
  'mask',
  'markup',
]

/** Longer addresses, data URLs included, are refused, as OpenAI does. */
const maxAddressCharacters = 20_971_520

/** The same question as for a new picture, and what is to be edited. */
export function openaiEditQuestion(fields: Fields, model: string, form: Form | null): ImageQuestion {
  choiceField(fields, 'input_fidelity', ['high', 'low'])
  const given = form === null ? referencedIn(fields) : uploadedIn(form)
  if (given.mask !== null && given.parts.some(({ name }) => name === 'markup')) {
    throw new Refusal(400, "'mask' and 'markup' exclude one another.", { param: 'markup' })
  }
  const strangers = form?.parts.map(({ name }) => name).filter((name) => !known.includes(name)) ?? []
  return {
    ...openaiImageQuestion(fields, model),
    given,
    unknownFields: [...unknownFields(fields, known), ...strangers],
  }
}

/** `image` is one picture, `image[]` a list; both at once are two lists. */
function uploadedIn({ parts }: Form): Given {
  const named = (name: string) => parts.filter((part) => part.name === name)
  const [single, list] = [named('image'), named('image[]')]
  for (const name of ['image', 'mask', 'markup']) {
    if (named(name).length > 1 || (name === 'image' && single.length > 0 && list.length > 0)) {
      throw duplicate(name)
    }
  }
  const images = [...single, ...list]
  if (images.length === 0) throw missing('image')
  return { parts, images, mask: named('mask')[0] ?? null, polarity: 'alpha' }
}

function referencedIn(fields: Fields): Given {
  const { images: list } = fields
  if (!Array.isArray(list) || list.length === 0) throw missing('images')
  const images = list.map((reference: unknown, position) => referenced(reference, `images/${position}`))
  const mask = fields['mask'] == null ? null : referenced(fields['mask'], 'mask')
  const markup = fields['markup'] == null ? null : referenced(fields['markup'], 'markup')
  const parts = bounded([...images, mask, markup].filter((part) => part !== null))
  return { parts, images, mask, polarity: 'alpha' }
}

function referenced(reference: unknown, name: string): Part {
  const refuse = (message: string, code = 'invalid_value') =>
    new Refusal(400, `Invalid '${name}': ${message}`, { code, param: name })
  if (!isFields(reference)) throw refuse("expected an object with 'image_url'.", 'invalid_type')
  const { image_url: address, ...rest } = reference
  if ('file_id' in rest) throw refuse('this server has no files, send image_url.')
  if (Object.keys(rest).length > 0)
    throw refuse(`unknown '${Object.keys(rest).join(', ')}'.`, 'unknown_parameter')
  if (typeof address === 'string' && address.length > maxAddressCharacters) {
    throw refuse(`at most ${maxAddressCharacters} characters.`, 'string_above_max_length')
  }
  return pictureOf(address, name)
}

const numbers = new Set(['n', 'output_compression', 'partial_images'])

/** The texts of a form as the values they stand for. */
export function fieldsOfForm({ texts }: Form): Fields {
  const fields: Fields = {}
  for (const { name, text } of texts) {
    if (name.endsWith('[]')) {
      const list = fields[name] ?? []
      fields[name] = [...(list as string[]), text]
      continue
    }
    if (Object.hasOwn(fields, name)) throw duplicate(name)
    fields[name] = typed(name, text)
  }
  return fields
}

/** What is no number or boolean stays a text, and is refused like one. */
function typed(name: string, text: string): unknown {
  if (numbers.has(name) && /^-?\d+$/.test(text)) return Number(text)
  if (name === 'stream' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function missing(name: string): Refusal {
  return new Refusal(400, `Missing required parameter: '${name}'.`, {
    code: 'missing_required_parameter',
    param: name,
  })
}

function duplicate(name: string): Refusal {
  return new Refusal(
    400,
    `Duplicate parameter: '${name}'. You provided multiple values for this parameter, whereas only one is allowed. If you are trying to provide a list of values, use the array syntax instead e.g. '${name}[]=<value>'.`,
    { code: 'duplicate_parameter', param: name },
  )
}

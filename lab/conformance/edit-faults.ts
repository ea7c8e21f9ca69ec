/** Edits that fail, are tried again, or are asked for twice. */
import { editFailover, nativeEdit } from './edit-kinds.ts'
import { editCase, editRow } from './edit-rows.ts'
import { failed, refused } from './expected-errors.ts'
import { drawing, large, letter, mask, narrowMask, opaqueMask, photo } from './given-pictures.ts'
import { imageClients, type ImageClient } from './image-clients.ts'
import { native, openaiModel } from './image-kinds.ts'
import type { AskedEdit, ImageCase, ImageRow } from './image-rows.ts'
import type { ExpectedError } from './rows.ts'

type Files = Pick<AskedEdit, 'images' | 'mask' | 'json'>

interface Refused extends Files {
  readonly expected: ExpectedError
  readonly model?: string
  readonly ask?: Partial<ImageCase>
}

function refusedCase(
  client: ImageClient,
  name: string,
  { expected, model = nativeEdit.name, ask = {}, ...files }: Refused,
): ImageCase | undefined {
  const asked = editCase(nativeEdit, client, name, files)
  return asked && { ...asked, purchases: 0, ...ask, model, expected: { kind: 'error', ...expected } }
}

function refuses(name: string, asked: Refused): ImageRow {
  return {
    name,
    models: { [nativeEdit.name]: nativeEdit.model },
    cases: (client) => [refusedCase(client, name, asked)].filter((one) => one !== undefined),
  }
}

const unreadable = (says: string): ExpectedError => ({ status: 400, code: 'invalid_image_file', says })

/** The same key twice: for the same files the same pictures, for another one a refusal. */
const idempotency: ImageRow = {
  name: 'edit-idempotency-key',
  models: { [nativeEdit.name]: nativeEdit.model },
  cases: (client) => {
    const idempotencyKey = `conformance-edit-${client.name}`
    const first = editCase(nativeEdit, client, 'edit-idempotency-key', { images: [photo], mask })
    const other = refusedCase(client, 'edit-idempotency-key reused', {
      images: [drawing],
      expected: { status: 422, code: 'idempotency_key_reused', says: 'used for a different request' },
    })
    if (!client.sendsHeaders || first === undefined || other === undefined) return []
    return [
      { ...first, idempotencyKey },
      { ...first, name: 'edit-idempotency-key again', idempotencyKey },
      { ...other, prompt: first.prompt, purchases: 1, idempotencyKey },
    ]
  },
}

/** It fails once for each client; the client's own default retries send all files again. */
const recovers: ImageRow = {
  name: 'edit-recovers',
  models: Object.fromEntries(
    imageClients.map(({ name }) => [
      `edit-recovers-${name}`,
      openaiModel(`fails-first-1+key-edit-${name}`, { edits: { maxInputs: 16, mask: 'alpha' } }),
    ]),
  ),
  cases: (client) => {
    if (!client.retries || !client.resendsForms) return []
    // What was read from a stream can't be read again.
    const giveAs = client.givesAs.find((way) => way === 'named') ?? 'bytes'
    const files = { images: [photo, drawing], mask, giveAs }
    const asked = editCase(nativeEdit, client, 'edit-recovers', files, { retries: true })
    return asked === undefined ? [] : [{ ...asked, model: `edit-recovers-${client.name}` }]
  },
}

/** An upstream that takes edits, and then does what its traits say. */
function upstreamFails(name: string, traits: string, asked: Refused): ImageRow {
  return {
    ...refuses(name, { ...asked, model: name }),
    models: { [name]: openaiModel(traits, { edits: { maxInputs: 16, mask: 'alpha' } }) },
  }
}

export const editFaults: readonly ImageRow[] = [
  editRow(editFailover, 'edit-failover', { images: [photo, drawing], mask }),
  recovers,
  idempotency,
  upstreamFails('edit-status-500', 'status-500', {
    images: [photo, drawing],
    mask,
    expected: failed('The scenario answers 500.'),
  }),
  // Its answer is there before the files are.
  upstreamFails('edit-early-refusal', 'early-refusal', {
    images: [large, large],
    expected: refused('Refused before the body was read.'),
  }),
  upstreamFails('edit-serves-then-resets', 'serves-then-resets', {
    images: [photo],
    ask: { retries: true, purchases: 1 },
    expected: { status: 424, code: 'outcome_unknown', says: 'a retry could pay twice' },
  }),
  refuses('edit-not-made', {
    images: [photo],
    model: native.name,
    expected: { status: 400, code: 'unsupported_parameter', says: 'makes images from text only' },
  }),
  refuses('mask-of-another-size', {
    images: [photo],
    mask: narrowMask,
    expected: unreadable('mask is 160x240 pixels and the first input image is 320x240'),
  }),
  refuses('mask-without-holes', {
    images: [photo],
    mask: opaqueMask,
    expected: unreadable('without transparency'),
  }),
  refuses('mask-of-another-size-in-json', {
    images: [photo],
    mask: narrowMask,
    json: true,
    expected: unreadable('mask is 160x240 pixels'),
  }),
  refuses('text-as-image', { images: [letter], expected: unreadable('image') }),
  refuses('text-as-second-image', { images: [photo, letter], expected: unreadable('image') }),
  refuses('text-as-mask', { images: [photo], mask: letter, expected: unreadable('mask') }),
  refuses('text-as-image-in-json', { images: [letter], json: true, expected: unreadable('image') }),
  refuses('seventeen-images', {
    images: Array.from({ length: 17 }, () => photo),
    expected: { status: 400, code: 'invalid_parameter', says: 'at most 16 images' },
  }),
  refuses('edit-with-wrong-key', {
    images: [photo],
    ask: { wrongKey: true },
    expected: { status: 401, code: 'invalid_api_key', says: 'No valid key matches' },
  }),
  refuses('edit-with-unknown-model', {
    images: [photo],
    model: 'edit-nativ',
    expected: { status: 404, code: 'model_not_found', says: "Did you mean 'edit-native'?" },
  }),
]

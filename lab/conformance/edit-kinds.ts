/** The kinds of upstream that edit pictures, as an operator would configure them. */
import { azureModel, imageModel, novaCanvas, openaiModel, openaiPlayed, places } from './image-kinds.ts'
import type { PictureFormat } from './image-rows.ts'
import type { ModelEntry } from './rows.ts'

export interface EditKind {
  readonly name: string
  readonly model: ModelEntry
  /** Pictures that one call may be given. */
  readonly maxInputs: number
  readonly readsWebp: boolean
  readonly mask: 'alpha' | 'colour' | 'none'
  readonly sentAs: 'multipart' | 'json' | undefined
  /** What it can be asked for, the first comes unasked. */
  readonly formats: readonly PictureFormat[]
  /** Pictures of one call. */
  readonly maxImages: number
  readonly previews: number
  /** Asked for until it is done, which takes the package a second or more. */
  readonly isPolled: boolean
}

type EditFields = Readonly<Record<string, unknown>>

/** A field that it does not know is refused by an upstream, and so is a file that is not called what it is. */
const strict = 'strict-fields+strict-types'

const openaiEdits = { maxInputs: 16, mask: 'alpha', bodies: ['multipart', 'json'] }

const openaiKind = {
  maxInputs: 16,
  readsWebp: true,
  mask: 'alpha',
  sentAs: 'multipart',
  formats: ['png', 'jpeg', 'webp'],
  maxImages: 10,
  previews: 3,
  isPolled: false,
} as const

function openaiEditor(traits: string, edits: EditFields = {}): ModelEntry {
  return openaiModel(`${strict}+${traits}`, { edits: { ...openaiEdits, ...edits } })
}

export const nativeEdit: EditKind = {
  ...openaiKind,
  name: 'edit-native',
  model: openaiEditor('multipart-only'),
}

/** The first upstream fails when it has read all files. */
export const editFailover: EditKind = {
  ...openaiKind,
  name: 'edit-failover',
  model: imageModel(
    openaiPlayed(`${strict}+status-500`, { edits: openaiEdits }),
    openaiPlayed(`${strict}+mask-white`, { edits: { ...openaiEdits, mask: 'white' } }),
  ),
  mask: 'colour',
}

export const openaiEditKinds: readonly EditKind[] = [
  nativeEdit,
  {
    ...openaiKind,
    name: 'edit-mask-white',
    model: openaiEditor('mask-white', { mask: 'white' }),
    mask: 'colour',
  },
  {
    ...openaiKind,
    name: 'edit-mask-black',
    model: openaiEditor('mask-black', { mask: 'black' }),
    mask: 'colour',
  },
  {
    ...openaiKind,
    name: 'edit-json-only',
    model: openaiEditor('json-only', { bodies: ['json'] }),
    sentAs: 'json',
  },
  {
    ...openaiKind,
    name: 'edit-one-image',
    model: openaiModel(`${strict}+one-image+no-mask+url-only`, {
      maxImages: 1,
      forms: ['url'],
      formats: ['png'],
      compression: false,
      stream: false,
      maxPartialImages: 0,
      edits: {},
    }),
    maxInputs: 1,
    mask: 'none',
    formats: ['png'],
    maxImages: 1,
    previews: 0,
  },
  { ...openaiKind, name: 'edit-azure-v1', model: azureModel(strict, 'v1', { edits: openaiEdits }) },
  {
    ...openaiKind,
    name: 'edit-azure-dated',
    model: azureModel(strict, '2025-04-01-preview', { edits: openaiEdits }),
  },
]

interface Wire {
  readonly wire: string
  readonly provider: string
  readonly facts?: string
  readonly model?: string
  readonly declared?: object
  readonly capabilities?: object
  /** What the built-in facts don't say. */
  readonly edits?: EditFields
  readonly kind: Partial<Omit<EditKind, 'name' | 'model' | 'sentAs'>>
}

const wires: Readonly<Record<string, Wire>> = {
  'edit-google': { ...places.google, facts: 'gemini-2.5-flash-image', kind: { maxInputs: 3 } },
  'edit-vertex': {
    ...places.vertex,
    facts: 'gemini-2.5-flash-image',
    kind: { maxInputs: 3, formats: ['png', 'jpeg'] },
  },
  'edit-bedrock': {
    ...places.bedrock,
    ...novaCanvas,
    edits: { maxInputs: 5, inputFormats: ['png', 'jpeg'] },
    kind: { maxInputs: 5, readsWebp: false, maxImages: 5 },
  },
  'edit-bedrock-mask': {
    ...places.bedrock,
    ...novaCanvas,
    edits: { maxInputs: 1, inputFormats: ['png', 'jpeg'], mask: 'black' },
    kind: { readsWebp: false, maxImages: 5, mask: 'colour' },
  },
  'edit-together': {
    ...places.together,
    facts: 'black-forest-labs/FLUX.1-kontext-pro',
    kind: { formats: ['jpeg', 'png'] },
  },
  'edit-xai': {
    ...places.xai,
    facts: 'grok-imagine-image',
    kind: { maxInputs: 3, formats: ['jpeg'], maxImages: 3 },
  },
  'edit-fal': {
    ...places.fal,
    facts: 'black-forest-labs/FLUX.1-schnell',
    model: 'fal-ai/flux-general/inpainting',
    edits: { mask: 'white' },
    kind: { formats: ['jpeg', 'png'], mask: 'colour' },
  },
  'edit-fal-list': {
    ...places.fal,
    facts: 'black-forest-labs/FLUX.1-schnell',
    model: 'fal-ai/flux-2/edit',
    edits: { maxInputs: 4 },
    kind: { maxInputs: 4, formats: ['jpeg', 'png'] },
  },
  'edit-fireworks': {
    ...places.fireworks,
    facts: 'accounts/fireworks/models/flux-kontext-pro',
    kind: { formats: ['jpeg', 'png'], isPolled: true },
  },
  'edit-black-forest-labs': {
    ...places.bfl,
    facts: 'flux-2-pro',
    kind: { maxInputs: 8, formats: ['jpeg', 'png'], isPolled: true },
  },
  'edit-replicate': {
    ...places.replicate,
    facts: 'black-forest-labs/FLUX.1-dev',
    model: 'black-forest-labs/flux-dev',
    edits: { mask: 'white' },
    kind: { formats: ['webp', 'jpeg', 'png'], maxImages: 4, mask: 'colour', isPolled: true },
  },
}

const plainKind = {
  maxInputs: 1,
  readsWebp: true,
  mask: 'none',
  sentAs: undefined,
  formats: ['png'],
  maxImages: 1,
  previews: 0,
  isPolled: false,
} as const

export const aiSdkEditKinds: readonly EditKind[] = Object.entries(wires).map(
  ([name, { wire, provider, facts, model = facts, declared, capabilities: known, edits, kind }]) => {
    const traits = kind.isPolled ? 'strict-fields+polls-1' : 'strict-fields'
    const deployment = { model, capabilities: edits === undefined ? known : { ...known, edits } }
    const entry = {
      played: [{ traits, wire, upstream: { provider }, deployment }],
      entry: { ...declared, facts },
    }
    return { ...plainKind, ...kind, name, model: entry }
  },
)

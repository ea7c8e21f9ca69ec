/** What apps of the DALL·E years say (`style`, `quality: standard`), to a server that knows it and to models that don't. */
import { openaiModel } from './image-kinds.ts'
import { promptOf, servedRow, type ImageRow, type Kind } from './image-rows.ts'
import type { ModelEntry } from './rows.ts'

/** Links are what such an app asks for unless its user chooses. */
const kind = { size: '1024x1024', formats: ['png'], previews: 0, form: 'url' } as const

const dallE3: Kind = {
  ...kind,
  name: 'dall-e',
  model: openaiModel('strict-fields+both-forms', {
    maxImages: 1,
    formats: ['png'],
    compression: false,
    forms: ['url', 'b64_json'],
    qualities: ['standard', 'hd'],
    stream: false,
    maxPartialImages: 0,
  }),
  maxImages: 1,
}

/** By the built-in facts, which say what the model does not take. */
function gptImage(entry: ModelEntry['entry']): ModelEntry {
  const facts = 'gpt-image-2'
  return {
    played: [
      {
        traits: 'strict-fields+refuses-legacy',
        wire: 'v1',
        upstream: { provider: 'openai' },
        deployment: { model: facts },
      },
    ],
    entry: { facts, ...entry },
  }
}

const dropping: Kind = {
  ...kind,
  name: 'dall-e-to-gpt-image',
  model: gptImage({ unsupported: 'drop' }),
  maxImages: 10,
}

/** Where the operator does not allow dropping, the app gets an error that names what it can't ask for. */
const refusing: ImageRow = {
  name: 'dall-e-refused',
  models: { 'dall-e-refused': gptImage({}) },
  cases: (client) => [
    {
      name: 'dall-e-refused',
      model: 'dall-e-refused',
      prompt: promptOf(client, 'dall-e-refused'),
      size: kind.size,
      purchases: 0,
      expected: { kind: 'error', status: 400, code: 'unsupported_parameter', says: 'standard' },
    },
  ],
}

export const dallE: readonly ImageRow[] = [
  ...[dallE3, dropping].flatMap((one) => [
    servedRow(one, `${one.name}/plain`),
    servedRow(one, `${one.name}/n-3`, { n: 3 }),
    servedRow(one, `${one.name}/b64_json`, { responseFormat: 'b64_json' }),
  ]),
  refusing,
].map((row) => ({ ...row, speciality: 'dall-e' }))

/** The questions for every gateway, and their load. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddingsBody, type FixedAnswer } from '../parts.ts'
import type { StartedProvider } from '../../provider.ts'
import type { Target } from './contender.ts'

export interface Case {
  readonly id: 'base64' | 'float' | 'many' | 'image'
  readonly name: string
  readonly kind: 'embedding' | 'image'
  readonly route: FixedAnswer['route']
  readonly connections: number
  /** The fields beside `model`, in Lua: `n` differs with each request. */
  readonly fields: string
}

export type CaseId = Case['id']

const TEXT = `"the quick brown fox ' .. seed .. n .. '"`
const INPUTS = 100
const PICTURE_BYTES = 2_000_000

export const CASES: readonly Case[] = [
  {
    id: 'base64',
    name: '8 KB base64',
    kind: 'embedding',
    route: 'embeddings',
    connections: 64,
    fields: `"input":${TEXT},"encoding_format":"base64"`,
  },
  {
    id: 'float',
    name: '19 KB float',
    kind: 'embedding',
    route: 'embeddings',
    connections: 64,
    fields: `"input":${TEXT},"encoding_format":"float"`,
  },
  {
    id: 'many',
    name: '100 inputs, 820 KB base64',
    kind: 'embedding',
    route: 'embeddings',
    connections: 16,
    fields: `"input":[' .. many(n) .. '],"encoding_format":"base64"`,
  },
  {
    id: 'image',
    name: 'image of 2 MB',
    kind: 'image',
    route: 'images/generations',
    connections: 8,
    fields: `"prompt":${TEXT}`,
  },
]

/** The answers of nginx beside the two that it always has. An image is one that a gateway may look into. */
export async function fixedAnswers(provider: StartedProvider): Promise<readonly FixedAnswer[]> {
  const answer = await fetch(`${provider.origin}/bytes-${PICTURE_BYTES}/v1/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-image-1', prompt: 'A gate of brass' }),
  })
  const picture = await answer.text()
  if (answer.status !== 200) throw new Error(`no picture to send: ${picture}`)
  return [
    { name: 'many', route: 'embeddings', body: embeddingsBody('base64', INPUTS) },
    { name: 'image', route: 'images/generations', body: picture },
  ]
}

export function wrkScript(folder: string, { id, fields }: Case, target: Target): string {
  const file = join(folder, `${id}.lua`)
  const headers = Object.entries({ 'content-type': 'application/json', ...target.headers })
  writeFileSync(
    file,
    `local n = 0
local seed = tostring({}):sub(8)
local headers = { ${headers.map(([name, value]) => `["${name}"] = "${value}"`).join(', ')} }
local function many(n)
  local texts = {}
  for index = 1, ${INPUTS} do texts[index] = '"the quick brown fox ' .. seed .. n .. '-' .. index .. '"' end
  return table.concat(texts, ',')
end
request = function()
  n = n + 1
  return wrk.format("POST", nil, headers, '{"model":"${target.model}",${fields}}')
end
`,
  )
  return file
}

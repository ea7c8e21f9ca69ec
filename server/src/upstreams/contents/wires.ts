/** Every wire of contents by name. */
import type { Deployment } from '#core/catalog/catalog.ts'
import type { ContentWireName } from '#core/catalog/content-capabilities.ts'
import { nova, titan } from './bedrock.ts'
import { cohere, cohereOnBedrock } from './cohere.ts'
import { dashscope } from './dashscope.ts'
import { gemini, vertex, vertexPredict } from './google.ts'
import { jina } from './jina.ts'
import { messages, openrouter } from './messages.ts'
import { modality } from './modality.ts'
import { voyage } from './voyage.ts'
import type { ContentWire } from './wire.ts'

const WIRES: Readonly<Record<ContentWireName, ContentWire>> = {
  gemini,
  vertex,
  'vertex-predict': vertexPredict,
  cohere,
  voyage,
  jina,
  nova,
  titan,
  messages,
  modality,
  openrouter,
  dashscope,
}

export function wireOf({ upstream }: Pick<Deployment, 'upstream'>, name: ContentWireName): ContentWire {
  return name === 'cohere' && upstream.provider === 'amazon-bedrock' ? cohereOnBedrock : WIRES[name]
}

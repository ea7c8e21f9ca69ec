import { openai } from '../openai-wire.ts'
import type { Wire } from '../wire.ts'
import { alibaba } from './alibaba.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import { fireworks } from './fireworks.ts'
import { google } from './google.ts'
import { infinity } from './infinity.ts'
import { jina } from './jina.ts'
import { mistral } from './mistral.ts'
import { openrouter } from './openrouter.ts'
import { sglang } from './sglang.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { voyage } from './voyage.ts'

export const wires: readonly Wire[] = [
  openai,
  azure,
  cohere,
  google,
  vertex,
  bedrock,
  voyage,
  mistral,
  alibaba,
  fireworks,
  jina,
  openrouter,
  vllm,
  sglang,
  infinity,
]

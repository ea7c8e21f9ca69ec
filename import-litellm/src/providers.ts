/** LiteLLM's providers (the word before the first slash of `litellm_params.model`) and what they are in Torana. */

export interface Family {
  /** How its parameters are read. */
  readonly wire: 'openai' | 'azure' | 'ai-sdk' | 'vertex' | 'bedrock'
  /** Torana's name for it; absent: an OpenAI-compatible server without built-in facts. */
  readonly provider?: string
  /** The variable LiteLLM takes the credential from when there is no `api_key`. */
  readonly keyVariable?: string
  /** The variable LiteLLM takes the address from when there is no `api_base`. */
  readonly addressVariable?: string
  /** Its address, where Torana has no facts about it. */
  readonly baseUrl?: string
  /** LiteLLM calls the server's own API at `api_base`; OpenAI's stands further down. */
  readonly path?: string
  /** Said about each deployment of it. */
  readonly remark?: string
}

const openaiWire = (provider: string, keyVariable: string): Family => ({
  wire: 'openai',
  provider,
  keyVariable,
})
const aiSdk = (provider: string, keyVariable: string): Family => ({ wire: 'ai-sdk', provider, keyVariable })
const compatible = (baseUrl: string, keyVariable: string): Family => ({
  wire: 'openai',
  baseUrl,
  keyVariable,
})

const FAMILIES: Readonly<Record<string, Family>> = {
  openai: openaiWire('openai', 'OPENAI_API_KEY'),
  azure: {
    wire: 'azure',
    provider: 'azure',
    keyVariable: 'AZURE_API_KEY',
    addressVariable: 'AZURE_API_BASE',
  },

  together_ai: openaiWire('togetherai', 'TOGETHERAI_API_KEY'),
  deepinfra: openaiWire('deepinfra', 'DEEPINFRA_API_KEY'),
  jina_ai: openaiWire('jina', 'JINA_AI_API_KEY'),
  nvidia_nim: openaiWire('nvidia', 'NVIDIA_NIM_API_KEY'),
  volcengine: openaiWire('volcengine', 'VOLCENGINE_API_KEY'),
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  nebius: compatible('https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'),
  sambanova: compatible('https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'),
  scaleway: compatible('https://api.scaleway.ai/v1', 'SCW_SECRET_KEY'),
  novita: compatible('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),

  cohere: aiSdk('cohere', 'COHERE_API_KEY'),
  gemini: aiSdk('google', 'GEMINI_API_KEY'),
  mistral: aiSdk('mistral', 'MISTRAL_API_KEY'),
  voyage: aiSdk('voyage', 'VOYAGE_API_KEY'),
  fireworks_ai: aiSdk('fireworks', 'FIREWORKS_AI_API_KEY'),
  dashscope: aiSdk('alibaba', 'DASHSCOPE_API_KEY'),
  xai: aiSdk('xai', 'XAI_API_KEY'),
  fal_ai: aiSdk('fal', 'FAL_AI_API_KEY'),
  replicate: aiSdk('replicate', 'REPLICATE_API_KEY'),
  black_forest_labs: aiSdk('black-forest-labs', 'BFL_API_KEY'),
  recraft: openaiWire('recraft', 'RECRAFT_API_KEY'),
  vertex_ai: { wire: 'vertex', provider: 'google-vertex' },
  bedrock: { wire: 'bedrock', provider: 'amazon-bedrock' },

  hosted_vllm: { wire: 'openai', provider: 'vllm', addressVariable: 'HOSTED_VLLM_API_BASE' },
  infinity: { wire: 'openai', provider: 'infinity' },
  lm_studio: { wire: 'openai', provider: 'lm-studio', addressVariable: 'LM_STUDIO_API_BASE' },
  ollama: {
    wire: 'openai',
    provider: 'ollama',
    path: '/v1',
    remark: "LiteLLM called Ollama's own API; Torana calls its OpenAI-compatible one, below /v1",
  },
  huggingface: {
    wire: 'openai',
    provider: 'tei',
    path: '/v1',
    remark: 'taken to be a server of Text Embeddings Inference, whose OpenAI-compatible API stands below /v1',
  },
  llamafile: { wire: 'openai', addressVariable: 'LLAMAFILE_API_BASE' },
  openai_like: { wire: 'openai', addressVariable: 'OPENAI_LIKE_API_BASE' },
  custom_openai: { wire: 'openai' },
  litellm_proxy: {
    wire: 'openai',
    addressVariable: 'LITELLM_PROXY_API_BASE',
    keyVariable: 'LITELLM_PROXY_API_KEY',
  },
  xinference: { wire: 'openai', addressVariable: 'XINFERENCE_API_BASE' },
}

/** Families in the order LiteLLM looks a bare model name up in. */
const BARE: Readonly<Record<string, string>> = {
  openai: 'openai',
  cohere: 'cohere',
  'google-vertex': 'vertex_ai',
  'amazon-bedrock': 'bedrock',
}

export function familyNamed(name: string): Family | undefined {
  return Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined
}

export interface Split {
  readonly family: string
  readonly model: string
}

/** `azure/my-deployment` → family and model. `knows` tells whether one of Torana's providers serves a model. */
export function splitModel(
  model: string,
  customProvider: string | undefined,
  knows: (provider: string, model: string) => boolean,
): Split {
  const [prefix = ''] = model.split('/', 1)
  const rest = model.slice(prefix.length + 1)
  if (customProvider !== undefined)
    return { family: customProvider, model: prefix === customProvider ? rest : model }
  if (rest !== '') return { family: prefix, model: rest }
  const provider = Object.keys(BARE).find((candidate) => knows(candidate, model))
  return { family: (provider && BARE[provider]) ?? 'openai', model }
}

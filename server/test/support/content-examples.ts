/** The examples of docs/embed-images.md name a model of a provider; here the fake provider plays it. */
import { startGateway } from './gateway.ts'

/** What an example reads from its environment. */
export async function startForContents(): Promise<
  Readonly<Record<'TORANA_BASE_URL' | 'TORANA_KEY', string>>
> {
  const contents = {
    wire: 'gemini',
    inputs: ['text', 'image', 'audio', 'video', 'file'],
    fuses: true,
    formats: ['png', 'jpeg', 'mp3', 'wav', 'mp4', 'mov', 'pdf'],
  }
  const model = {
    on: 'strict-fields',
    aliases: ['gemini-embedding-2'],
    upstream: { dialect: undefined, provider: 'google', base: 'google/v1beta' },
    capabilities: { contents },
  }
  const { url, key } = await startGateway({ models: { 'gemini-embedding-2-w64': model } })
  return { TORANA_BASE_URL: `${url}/v1`, TORANA_KEY: key }
}

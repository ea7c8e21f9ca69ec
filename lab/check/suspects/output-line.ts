/** Lines of the results of a batch, as callers read them. */
import { fromBase64 } from '../../fake-provider/vectors.ts'

export interface OutputLine {
  readonly custom_id: string
  readonly response: {
    readonly request_id: string
    readonly body: { readonly data: readonly { readonly embedding: string }[] }
  }
}

export function textOf({ custom_id: id }: OutputLine, texts: readonly string[] = []): string {
  return texts[Number(id.slice('line '.length))] ?? ''
}

export function vectorIn({ response }: OutputLine): Float32Array {
  return fromBase64(response.body.data[0]?.embedding ?? '')
}

import type { JsonBounds } from '#core/text/json-bounds.ts'
import type { Lifted } from '#core/media/lift.ts'
import type { Asker } from './asker.ts'

export { JsonRefused, JsonTooLong } from '#core/text/json-refused.ts'
export type { LiftedFile } from '#core/media/lift.ts'

/**
 * Parses JSON that is too large to parse on the event loop. The value is what `JSON.parse` returns, with one difference:
 * arrays of token ids under `input` arrive as `Uint32Array`, because a million boxed numbers would take as long to hand
 * over as to parse. JSON that holds more than a request may hold is refused before it is parsed, with `JsonRefused`.
 * Projects take turns; `ThreadBusy` means that the body was not read in time.
 */
export interface LargeJson {
  /** Rejects with a `SyntaxError` for invalid JSON, and `JsonTooLong` for too much text beside media. The bytes are transferred: the caller must not use them again. */
  parse(bytes: Uint8Array<ArrayBuffer>, bounds: JsonBounds, asker: Asker): Promise<ParsedJson>
  /**
   * The same for a body that may hold files: every text that is a data URL in base64 becomes null, and is listed with its
   * place and its bytes. This never hides a field that Torana must decide on: a data URL is an image or a mistake.
   */
  parseWithFiles(bytes: Uint8Array<ArrayBuffer>, asker: Asker): Promise<JsonWithFiles>
}

export interface ParsedJson {
  readonly value: unknown
  /**
   * The fields of the body whose numbers JavaScript would write differently, with their numbers as they came
   * (`core/text/exact-json.ts`). Never fields that hold large amounts of text or images: Torana reads those itself.
   */
  readonly exact: Readonly<Record<string, unknown>> | undefined
  /** The media of a body with contents, which are null in the value. Undefined for any other body. */
  readonly media?: Omit<Lifted, 'value'> | undefined
}

export interface JsonWithFiles extends ParsedJson, Pick<Lifted, 'files'> {}

import type { JsonBounds } from '#core/text/json-bounds.ts'
import type { Asker } from './asker.ts'

/**
 * Parses JSON that is too large to parse on the event loop. The value is what `JSON.parse` returns, with one difference:
 * arrays of token ids under `input` arrive as `Uint32Array`, because a million boxed numbers would take as long to hand
 * over as to parse. JSON that holds more than a request may hold is refused before it is parsed, with `JsonRefused`.
 * Projects take turns; `ThreadBusy` means that the body was not read in time.
 */
export interface LargeJson {
  /** Rejects with a `SyntaxError` for invalid JSON. The bytes are transferred: the caller must not use them again. */
  parse(bytes: Uint8Array<ArrayBuffer>, bounds: JsonBounds, asker: Asker): Promise<ParsedJson>
  /**
   * The same for a body that may hold files: every text that is a data URL in base64 becomes null, and is listed with its
   * place and its bytes. This never hides a field that Torana must decide on: a data URL is an image or a mistake.
   */
  parseWithFiles(
    bytes: Uint8Array<ArrayBuffer>,
    asker: Asker,
  ): Promise<ParsedJson & { readonly files: readonly LiftedFile[] }>
}

export interface ParsedJson {
  readonly value: unknown
  /**
   * The fields of the body whose numbers JavaScript would write differently, with their numbers as they came
   * (`core/text/exact-json.ts`). Never fields that hold large amounts of text or images: Torana reads those itself.
   */
  readonly exact: Readonly<Record<string, unknown>> | undefined
}

export interface LiftedFile {
  /** Names and positions from the outside in, joined by `/`: `images/0/image_url`. In a name, `~` is `~0` and `/` is `~1`. */
  readonly place: string
  /** Undefined when what follows the comma is not base64. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
}

/** JSON that is nested too deep, or holds too many values or files. The message repeats nothing of the body: a caller may read it. */
export class JsonRefused extends SyntaxError {
  override readonly name = 'JsonRefused'
}

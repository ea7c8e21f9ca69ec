import type { EditBody, ImageDeployment, ImageFormat, OfferedSize } from '#core/catalog/catalog.ts'
import type { ImageUsage } from '#core/money/usage.ts'

/**
 * One purchase of images from an upstream, already negotiated: this deployment's capabilities accept everything in it. A
 * dialect sends all of it and nothing else.
 */
export interface ImageCall {
  /** Sent as `x-torana-call-id`, so that the upstream's records can be compared with our ledger. */
  readonly callId: string
  /** Trace headers of the call, names and values in turn. Undefined: there are none. */
  readonly traceHeaders?: readonly string[] | undefined
  /** The project that it is made for. It is never sent. */
  readonly project: string
  readonly deployment: ImageDeployment
  readonly prompt: string
  /** Number of images to make; 1 is requested by leaving the field out. */
  readonly images: number
  /** Undefined leaves the size to the upstream. */
  readonly size: OfferedSize | undefined
  readonly quality: string | undefined
  readonly background: string | undefined
  readonly moderation: string | undefined
  readonly complexity?: string | undefined
  /** Undefined leaves the upstream at its first format. */
  readonly format: ImageFormat | undefined
  readonly compression: number | undefined
  readonly user: string | undefined
  readonly safetyIdentifier: string | undefined
  /** Fields Torana does not know, passed on as they came. Empty for dialects that can't carry them. */
  readonly extraFields: Readonly<Record<string, unknown>>
  /** Undefined: the answer is requested as a whole. A number: event by event, with this many previews. */
  readonly partialImages: number | undefined
  readonly timeoutMs: number
  /**
   * The text that an earlier process passed to `ImageEvents.submitted` for this very call. Undefined: it was not submitted
   * yet. With it, a dialect submits nothing: it polls for the result, and nothing is bought twice.
   */
  readonly submitted: string | undefined
  /** Undefined: images are made from the prompt alone. */
  readonly edit: EditCall | undefined
}

/** The images to edit, and how. This deployment accepts all of it. */
export interface EditCall {
  /** One at least, in the caller's order. */
  readonly pictures: readonly GivenPicture[]
  /** Marks what is to change in the first image, in this deployment's own way. */
  readonly mask: GivenPicture | undefined
  readonly markup: GivenPicture | undefined
  readonly fidelity: string | undefined
  /** How a wire of the OpenAI family is to send them. */
  readonly body: EditBody
}

export type GivenPicture = GivenBytes | { readonly kind: 'address'; readonly url: string }

/** Bytes on a disk or in memory. They go to the upstream unchanged. */
export interface GivenBytes {
  readonly kind: 'bytes'
  readonly format: ImageFormat
  readonly size: number
  /** Reads from the beginning, as often as needed: a call may be repeated at another deployment. */
  open(): AsyncIterable<Uint8Array>
}

/** Events while a call is in progress. */
export interface ImageEvents {
  /**
   * A polled upstream has accepted the call. The text is all that is needed to continue polling after a crash; the dialect
   * waits for the promise before it first asks for the result.
   */
  submitted(text: string): Promise<void>
  /** A preview has come. */
  partial(preview: Preview): void
}

export interface Preview {
  readonly index: number
  readonly bytes: Uint8Array
  /** Releases the memory of the bytes at once, like that of an image. */
  readonly discard?: (() => void) | undefined
  /** `size`, `quality`, `background`, `output_format` as reported in the upstream's event. */
  readonly echoes: Readonly<Record<string, unknown>>
}

export interface MadePicture {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Releases the memory of the bytes at once; no one may use them afterwards. Undefined: the garbage collector does it. */
  readonly discard?: (() => void) | undefined
  /** The prompt as the upstream rewrote it, where it says so. */
  readonly revisedPrompt: string | undefined
}

/**
 * Images kept per call. Servers with a fixed batch make up to sixteen whatever they are asked for; an answer with thousands
 * of links is invalid, and each link is a download.
 */
export const MAX_PICTURES = 64

export interface ImageAnswer {
  /**
   * At least one, none of them empty, and all that came: an upstream may make more than were asked for. At most
   * `MAX_PICTURES`. Images that came as URLs have been fetched.
   */
  readonly pictures: readonly MadePicture[]
  /** Token counts of all images together. Each count that the upstream did not report is undefined. */
  readonly tokens: ImageUsage['tokens']
  /** Token counts of each event of a stream, where several came and all said the same: it may be the total, repeated. */
  readonly eachTokens?: ImageUsage['tokens'] | undefined
  /** The upstream's `usage` as it came, where one object covers the whole call. */
  readonly usage?: Readonly<Record<string, unknown>> | undefined
  /**
   * The cost that the upstream reports for the call, where `reportedCost` of its capabilities names the field and its unit.
   */
  readonly reportedNanoUsd?: bigint | undefined
  /** The model that answered, in the upstream's words. Undefined: it does not say. */
  readonly model?: string | undefined
  /** `size`, `quality`, `background`, `output_format` as the upstream resolved them, where it says so. */
  readonly echoes: Readonly<Record<string, unknown>>
  /** Top-level fields of its answer beyond OpenAI's own. */
  readonly extraFields: Readonly<Record<string, unknown>>
  /** Arrival of the first byte of the answer, on the clock of `performance.now()`, where the wire shows it. */
  readonly firstByteMs?: number | undefined
  /** The upstream's own id of the call. */
  readonly upstreamRequestId?: string | undefined
}

/**
 * Where images come from. Implementations translate to their dialect, buy exactly once and never retry: a second try may be
 * a second purchase, and is the journey's decision. A content refusal, also one inside a 200, is `contentRefused`. Every
 * failure is an `UpstreamFailure`; one that may have been charged says so.
 */
export interface ImageUpstream {
  generate(call: ImageCall, events: ImageEvents): Promise<ImageAnswer>
}

/**
 * Fetches an image from an address that an upstream or a caller named. It connects only to addresses of the public
 * internet, checked when the connection is opened and again at each redirect; an address of `trustedOrigin`, or of one of
 * `trustedHosts`, is used unchecked. Bounded in bytes, time and redirects. Sends no credential. Rejects with
 * `AddressRefused`, or with the network error.
 */
export interface PictureFetcher {
  fetch(
    url: string,
    options: {
      readonly trustedOrigin: string | undefined
      /** With their port, unless it is the scheme's own. Absent: none. */
      readonly trustedHosts?: readonly string[] | undefined
      readonly timeoutMs: number
      readonly maxBytes: number
      /** Media types, as the header of this name writes them. Default: images. */
      readonly accept?: string | undefined
    },
  ): Promise<Uint8Array<ArrayBuffer>>
}

/**
 * The gateway does not connect to this address at another party's request. The message names the reason, not what is there.
 */
export class AddressRefused extends Error {
  override readonly name: string = 'AddressRefused'
}

/**
 * Refused because of the addresses behind its host name. A caller must not learn that: it would show which names exist in
 * the network.
 */
export class HostRefused extends AddressRefused {
  override readonly name = 'HostRefused'
}

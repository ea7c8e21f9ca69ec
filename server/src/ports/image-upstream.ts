import type { EditBody, ImageDeployment, ImageFormat, OfferedSize } from '#core/catalog.ts'
import type { ImageUsage } from '#core/usage.ts'

/**
 * One purchase of pictures from an upstream, already negotiated: everything in it is something this deployment's
 * capabilities say it can take. A dialect sends all of it and nothing else.
 */
export interface ImageCall {
  /** Sent as `x-torana-call-id`, so that the upstream's books can be compared with ours. */
  readonly callId: string
  /** Headers that tell where the call stands in a trace, names and values in turn. Undefined: there are none. */
  readonly traceHeaders?: readonly string[] | undefined
  /** The project that it is made for. It is never sent. */
  readonly project: string
  readonly deployment: ImageDeployment
  readonly prompt: string
  /** How many pictures to make; 1 is asked for by silence. */
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
  /** Undefined: the answer is asked for in one piece. A number: event by event, with so many previews. */
  readonly partialImages: number | undefined
  readonly timeoutMs: number
  /**
   * What `ImageEvents.submitted` was told by an earlier process that handed in this very call. Undefined: it was not handed
   * in yet. With it, a dialect sends no submit: it goes on asking for the result, and nothing is bought twice.
   */
  readonly submitted: string | undefined
  /** Undefined: pictures are made from the prompt alone. */
  readonly edit: EditCall | undefined
}

/** The pictures that are to be edited, and how. All of it is something this deployment says it can take. */
export interface EditCall {
  /** One at least, in the caller's order. */
  readonly pictures: readonly GivenPicture[]
  /** Marks what is to change in the first picture, in this deployment's own way. */
  readonly mask: GivenPicture | undefined
  readonly markup: GivenPicture | undefined
  readonly fidelity: string | undefined
  /** How a wire of the OpenAI family is to send them. */
  readonly body: EditBody
}

export type GivenPicture = GivenBytes | { readonly kind: 'address'; readonly url: string }

/** Bytes that lie on a disk or in memory. They go to the upstream as they are. */
export interface GivenBytes {
  readonly kind: 'bytes'
  readonly format: ImageFormat
  readonly size: number
  /** From the beginning, as often as needed: a call may be made again at another deployment. */
  open(): AsyncIterable<Uint8Array>
}

/** What is told while a call is under way. */
export interface ImageEvents {
  /**
   * A polled upstream has taken the call. The text is all that is needed to go on asking after a crash; the dialect waits for
   * the promise before it asks for the result the first time.
   */
  submitted(text: string): Promise<void>
  /** A preview has come. */
  partial(preview: Preview): void
}

export interface Preview {
  readonly index: number
  readonly bytes: Uint8Array
  /** Gives the memory of the bytes back at once, like that of a picture. */
  readonly discard?: (() => void) | undefined
  /** `size`, `quality`, `background`, `output_format` as the upstream's event told them. */
  readonly echoes: Readonly<Record<string, unknown>>
}

export interface MadePicture {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Gives the memory of the bytes back at once, which nobody uses then. Undefined: it is left to the collector of garbage. */
  readonly discard?: (() => void) | undefined
  /** The prompt as the upstream rewrote it, where it says so. */
  readonly revisedPrompt: string | undefined
}

/**
 * As many pictures of one call are kept. Servers with a fixed batch make up to sixteen whatever they are asked for; an answer
 * with thousands of links is no answer, and each link is a download.
 */
export const MOST_PICTURES = 64

export interface ImageAnswer {
  /**
   * One at least, none of them empty, and all that came: an upstream may make more than were asked for. At most
   * `MOST_PICTURES`. Pictures that came as URLs have been fetched.
   */
  readonly pictures: readonly MadePicture[]
  /** What it counted, of all pictures together. Each count that it did not tell is undefined. */
  readonly tokens: ImageUsage['tokens']
  /** What each event of a stream counted, where several came and all said the same: it may be the total, repeated. */
  readonly eachTokens?: ImageUsage['tokens'] | undefined
  /** Its `usage` as it came, where one object tells of the whole call. */
  readonly usage?: Readonly<Record<string, unknown>> | undefined
  /** What it says that it charges for the call, where `reportedCost` of its capabilities tells where and in which unit. */
  readonly reportedNanoUsd?: bigint | undefined
  /** `size`, `quality`, `background`, `output_format` as it resolved them, where it tells. */
  readonly echoes: Readonly<Record<string, unknown>>
  /** Top-level fields of its answer beyond OpenAI's own. */
  readonly extraFields: Readonly<Record<string, unknown>>
  /** When the first byte of the answer came, on the clock of `performance.now()`, where the wire tells. */
  readonly firstByteMs?: number | undefined
  /** The upstream's own id of the call. */
  readonly upstreamRequestId?: string | undefined
}

/**
 * Where pictures come from. Implementations translate to their dialect, buy exactly once and never retry: a second try may be
 * a second purchase, and is the journey's decision. A content refusal, also one inside a 200, is `contentRefused`. Every
 * failure is an `UpstreamFailure`; one that may have been charged says so.
 */
export interface ImageUpstream {
  generate(call: ImageCall, events: ImageEvents): Promise<ImageAnswer>
}

/**
 * Fetches a picture from an address that an upstream or a caller named. Only addresses of the public internet are connected
 * to, checked when the connection is opened and again at each redirect; an address of `trustedOrigin`, or of one of
 * `trustedHosts`, is taken as it is.
 * Bounded in bytes, time and redirects. No credential is ever sent along. Rejects with `AddressRefused`, or with what the
 * network said.
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
    },
  ): Promise<Uint8Array<ArrayBuffer>>
}

/** The address is none that the gateway connects to on somebody else's word. The message names the reason, not what is there. */
export class AddressRefused extends Error {
  override readonly name: string = 'AddressRefused'
}

/** Refused for where the name of its host leads. A caller must not learn that: it would tell which names exist in the network. */
export class HostRefused extends AddressRefused {
  override readonly name = 'HostRefused'
}

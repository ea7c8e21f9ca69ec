/**
 * The bounds of every route of both ports: which body it reads, and how much of it. A listener refuses to register a route that is
 * missing here. Routes that read, list or delete (GET, HEAD, DELETE) have no body; every other route has a line.
 */
import type { Limits } from '#core/settings.ts'

export interface BodyLimit {
  readonly maxBytes: number
  /** Advice for a sender of too large a body. */
  readonly advice: string
}

/** The bodies that a route takes. With neither, the node does not read what a client sends. */
export interface RouteBounds {
  readonly json?: BodyLimit
  readonly form?: BodyLimit
}

export const NO_BODY: RouteBounds = {}

/** The form around a file: its fields, and the headers of its parts. */
export const FORM_BYTES = 64 * 1024
/** One part of an upload: OpenAI's own limit. */
const UPLOAD_PART_BYTES = 64 * 1024 * 1024
/** `POST /v1/batches`: sixteen pairs of metadata, every character of them escaped, are 100 KB. */
const BATCH_BYTES = 128 * 1024
/** The ids of 8,192 parts, the maximum of one upload, are 400 KB. */
const COMPLETION_BYTES = 1024 * 1024
/** The request that begins an upload: a name, a type and numbers. */
const UPLOAD_BYTES = 16 * 1024

/** A body with media. One without is refused later, when it is known to have none. */
export function largestEmbeddings({
  embeddingsBodyBytes,
  contentsBodyBytes,
  bodyBytes,
}: EmbeddingsLimits): number {
  return Math.max(embeddingsBodyBytes, Math.min(contentsBodyBytes, bodyBytes))
}

type EmbeddingsLimits = Pick<Limits, 'embeddingsBodyBytes' | 'contentsBodyBytes' | 'bodyBytes'>

/** Routes of the public port, without their prefixes. */
export function gatewayBounds(limits: Limits) {
  const { imagesBodyBytes, editsBodyBytes, editsJsonBytes, fileBytes } = limits
  const inputs = {
    json: { maxBytes: largestEmbeddings(limits), advice: 'Send the inputs in several requests.' },
  }
  const generation = { json: { maxBytes: imagesBodyBytes, advice: 'Send a shorter prompt.' } }
  const edit = {
    form: { maxBytes: editsBodyBytes, advice: 'Send fewer or smaller images.' },
    json: {
      maxBytes: editsJsonBytes,
      advice: 'Send smaller images, or send them as multipart/form-data.',
    },
  }
  return {
    'POST /embeddings': inputs,
    'POST /engines/*': inputs,
    'POST /images/generations': generation,
    'POST /images/edits': edit,
    /** One of the three above, by the end of its path, with its bounds. */
    'POST /openai/deployments/*': edit,
    'POST /files': { form: { maxBytes: fileBytes + FORM_BYTES, advice: 'Split the file.' } },
    'POST /uploads': { json: { maxBytes: UPLOAD_BYTES, advice: 'Send what this path takes only.' } },
    'POST /uploads/:id/parts': {
      form: { maxBytes: UPLOAD_PART_BYTES + FORM_BYTES, advice: 'Send parts of at most 64 MB.' },
    },
    'POST /uploads/:id/complete': {
      json: { maxBytes: COMPLETION_BYTES, advice: 'Send what this path takes only.' },
    },
    'POST /uploads/:id/cancel': NO_BODY,
    'POST /batches': { json: { maxBytes: BATCH_BYTES, advice: 'Send less metadata.' } },
    'POST /batches/:id/cancel': NO_BODY,
  } as const satisfies Record<string, RouteBounds>
}

const CONTROL_ADVICE = 'Send what this path takes only.'
/** A sign-in or an invitation: what clients may send before they are known. The longest fields are a password and a token. */
const STRANGER: RouteBounds = { json: { maxBytes: 8 * 1024, advice: CONTROL_ADVICE } }
/** One object with its terms: the longest has a few hundred models of 200 characters. */
const OBJECT: RouteBounds = { json: { maxBytes: 128 * 1024, advice: CONTROL_ADVICE } }
/** A list of objects. */
const LIST: RouteBounds = { json: { maxBytes: 1024 * 1024, advice: CONTROL_ADVICE } }

/** Routes of the control port, below `/api/v1`. Their callers are signed in, except those of `STRANGER`. */
export function controlBounds(limits: Limits) {
  const gateway = gatewayBounds(limits)
  return {
    'POST /session': STRANGER,
    'POST /session/first-run': STRANGER,
    'POST /invitations/look': STRANGER,
    'POST /invitations/accept': STRANGER,
    'PUT /session/password': OBJECT,
    'PUT /alerts/mute': OBJECT,
    'POST /alerts/rules': OBJECT,
    'PATCH /alerts/rules/:id': OBJECT,
    'POST /alerts/channels': OBJECT,
    'PATCH /alerts/channels/:id': OBJECT,
    'POST /alerts/channels/:id/test': NO_BODY,
    'POST /alerts/channels/:id/retry': NO_BODY,
    'POST /projects': OBJECT,
    'PATCH /projects/:project': OBJECT,
    'POST /keys': OBJECT,
    'PATCH /keys/:project/:name': OBJECT,
    'POST /keys/:project/:name/rotate': OBJECT,
    'PUT /credentials/:upstream': OBJECT,
    'PATCH /members/:id': OBJECT,
    'POST /invitations': OBJECT,
    'PUT /sign-on': OBJECT,
    'POST /sign-on/test': NO_BODY,
    'POST /tokens': OBJECT,
    'POST /nodes/:id/end': OBJECT,
    'POST /backup': OBJECT,
    'POST /unknowns/:request_id/:attempt': OBJECT,
    'POST /ledger/refused/retry': NO_BODY,
    'PUT /prices/:deployment': OBJECT,
    'POST /configuration/preview': LIST,
    'POST /configuration/changes': LIST,
    'POST /configuration/changes/:id/revert': NO_BODY,
    'POST /spaces/:model/accept': OBJECT,
    'POST /spaces/:model/probe': NO_BODY,
    'POST /deployments/:id/test': OBJECT,
    'POST /deployments/:id/drain': OBJECT,
    'POST /models': LIST,
    'POST /batches': gateway['POST /batches'],
    'POST /batches/:id/cancel': NO_BODY,
    'POST /batches/:id/continue': NO_BODY,
    'POST /batches/:id/pause': OBJECT,
    'POST /batches/:id/resume': NO_BODY,
    'POST /upstreams': OBJECT,
    'POST /upstreams/check': OBJECT,
    'PATCH /upstreams/:name': OBJECT,
    'POST /playground/embeddings': gateway['POST /embeddings'],
    'POST /playground/images/generations': gateway['POST /images/generations'],
    'POST /playground/images/edits': gateway['POST /images/edits'],
    'POST /playground/uploads': gateway['POST /uploads'],
    'POST /playground/uploads/:id/parts': gateway['POST /uploads/:id/parts'],
    'POST /playground/uploads/:id/complete': gateway['POST /uploads/:id/complete'],
    'POST /playground/uploads/:id/cancel': STRANGER,
  } as const satisfies Record<string, RouteBounds>
}

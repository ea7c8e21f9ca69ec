/** Faults of contents: images, audio, video and PDF among the inputs. */
import type { FaultEntry } from './entry.ts'

const badRequest = { status: 400, type: 'invalid_request_error', retry: false, who: 'caller' } as const

export const CONTENT_FAULTS = {
  ambiguous_input: {
    ...badRequest,
    meaning:
      '`input`, or one entry of it, is a string that as a whole is a data URI of an image, audio, video or PDF. A string is a text: its vector would be that of the base64 characters, and no search would find the image.',
    nextStep:
      'Send the media as a content, `{"content": [{"type": "image_url", "image_url": {"url": "data:…"}}]}`, to a model that takes it. If you want the vector of the characters themselves, put a word before them: a text that only contains a data URI is accepted.',
  },
  part_unsupported: {
    ...badRequest,
    meaning: 'No deployment of the model takes a part of the content: its kind, its format, or an address.',
    nextStep:
      'Use one of the models that the message names, convert the part named in `param`, or leave it out.',
  },
  parts_not_fusible: {
    ...badRequest,
    meaning:
      'A content has several parts, and the model makes a vector of one part only. Torana never averages vectors: the average is in no space.',
    nextStep: 'Send each part as an input of its own, or use a model that fuses parts.',
  },
  too_many_parts: {
    ...badRequest,
    meaning: 'A content has more parts or images than one vector may be made of.',
    nextStep: 'Divide the content named in `param` into several inputs.',
  },
  invalid_media: {
    ...badRequest,
    meaning:
      'An image, audio, video or PDF is broken, is animated, is not what its part declares, or has a format that Torana does not know. The first bytes decide, not the declared type.',
    nextStep: 'Send the part named in `param` in a format that the message names, as base64.',
  },
  media_too_large: {
    ...badRequest,
    meaning: 'An image, audio, video or PDF has more bytes, pixels, seconds or pages than allowed.',
    nextStep:
      'Make the part named in `param` smaller, or divide it. Operators: raise `limits.contentPartBytes`, `limits.maxPicturePixels`, `limits.maxPictureEdge`, `limits.maxContentSeconds` or `limits.maxContentPages`.',
  },
  media_unreachable: {
    ...badRequest,
    meaning:
      'A part of the request is an address, and Torana could not fetch an image, audio, video or PDF from it within 30 seconds. Addresses must be on the public internet.',
    nextStep: 'Correct the address named in `param`, or send the bytes themselves, as a data URL.',
  },
} as const satisfies Readonly<Record<string, FaultEntry>>

/** The fields of a file upload beside its bytes. */
import { Fault } from '../fault/fault.ts'
import { isPlain } from '../text/storable.ts'

/** OpenAI's own bounds: an hour and 30 days. */
const MIN_SECONDS = 3600
const MAX_SECONDS = 2_592_000

const MAX_FILENAME_LENGTH = 255

export interface FileWish {
  readonly purpose: 'batch'
  readonly expiresAfterMs: number
}

/** Purposes of OpenAI's API that Torana has no use for. */
const OTHER_PURPOSES: ReadonlySet<string> = new Set([
  'assistants',
  'fine-tune',
  'vision',
  'user_data',
  'evals',
  'batch_output',
])

export function checkPurpose(purpose: string | undefined): 'batch' {
  if (purpose === 'batch') return purpose
  if (purpose === undefined || purpose === '')
    throw new Fault('missing_parameter', 'purpose is missing. Send it as `batch`.', { param: 'purpose' })
  const known = OTHER_PURPOSES.has(purpose) ? `purpose '${purpose}'` : 'This purpose'
  throw new Fault(
    'unsupported_file_purpose',
    `${known} is not supported. Torana keeps files of purpose 'batch' only.`,
    { param: 'purpose' },
  )
}

/** Files of requests are JSONL, as in OpenAI's API. */
export function checkFilename(filename: string | undefined): string {
  const wrong = (message: string): Fault => new Fault('invalid_parameter', message, { param: 'file' })
  if (filename === undefined || filename === '')
    throw wrong('file has no file name. Send the file with a name that ends in .jsonl.')
  if (filename.length > MAX_FILENAME_LENGTH || !isPlain(filename))
    throw wrong(`The file name must be text of at most ${MAX_FILENAME_LENGTH} characters.`)
  if (!filename.toLowerCase().endsWith('.jsonl'))
    throw wrong('Invalid file format for Batch API. Must be .jsonl: one JSON object per line.')
  return filename
}

/** `anchor` and `seconds` as they came: from a form both are texts. */
export function expiryMs(anchor: unknown, seconds: unknown): number {
  const param = 'expires_after'
  if (anchor === undefined && seconds === undefined) return MAX_SECONDS * 1000
  if (anchor !== 'created_at')
    throw new Fault('invalid_parameter', "expires_after.anchor must be 'created_at'.", { param })
  const amount = typeof seconds === 'string' && /^\d{1,9}$/.test(seconds) ? Number(seconds) : seconds
  const isWithin =
    typeof amount === 'number' &&
    Number.isSafeInteger(amount) &&
    amount >= MIN_SECONDS &&
    amount <= MAX_SECONDS
  if (!isWithin)
    throw new Fault(
      'invalid_parameter',
      `expires_after.seconds must be a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}.`,
      { param },
    )
  return amount * 1000
}

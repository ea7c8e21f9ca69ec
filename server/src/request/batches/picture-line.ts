import { Fault } from '#core/fault/fault.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { Tags } from '#core/money/labels.ts'
import { withBatchTags } from '#core/request/labels.ts'
import { NO_FILES, type RequestFiles } from '../images/files.ts'

/** A line as its route reads it. */
export interface PictureLine {
  readonly customId: string
  /** Undefined when the line asks for nothing that can run; the fault says why. */
  readonly asked: ImageRequest | undefined
  readonly fault: Fault | undefined
  readonly files: RequestFiles
}

/** A line without tags takes those of its batch. */
export async function taggedLine(line: PictureLine, tags: Tags | undefined): Promise<PictureLine> {
  const { asked, files } = line
  if (asked === undefined || tags === undefined) return line
  try {
    return { ...line, asked: { ...asked, tags: withBatchTags(asked.tags, tags) } }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    await files.discard()
    return { ...line, asked: undefined, files: NO_FILES, fault: error }
  }
}

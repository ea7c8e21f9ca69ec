/** A scan as it is stored. */
import { utf8Bytes } from '../image/bytes.ts'
import { MAX_SCAN_BYTES, type FileScan } from './scan-result.ts'

/** Throws a `RangeError` for a scan larger than allowed, which means that the bounds of its texts have a hole. */
export function scanText(scan: FileScan): string {
  const text = JSON.stringify(scan)
  const bytes = utf8Bytes(text)
  if (bytes > MAX_SCAN_BYTES)
    throw new RangeError(`the scan of a file has ${bytes} bytes; at most ${MAX_SCAN_BYTES} are stored`)
  return text
}

/** Faults about files. */
import type { FaultEntry } from './entry.ts'

export const FILE_FAULTS = {
  unsupported_file_purpose: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'Torana keeps files of requests for batches. It has no use for files of another purpose.',
    nextStep: 'Send `purpose` as `batch`.',
  },
  file_too_large: {
    status: 413,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The file is larger than one file may be.',
    nextStep:
      'Send it in parts with `/v1/uploads`, or split it. Operators: raise `limits.fileBytes` or `limits.uploadFileBytes`.',
  },
  file_unreadable: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'A separate process reads files. It ended while it read this file, or worked for it for longer than it may. Other files are not affected.',
    nextStep:
      'Split the file, or shorten its lines, and send it again. Operators: the log says what ended the process.',
  },
  upload_not_pending: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning: 'The upload was completed or cancelled, or its hour is over.',
    nextStep: 'Begin another upload, and send all parts within an hour.',
  },
  upload_mismatch: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The parts of the upload are not what was announced: their bytes together differ from `bytes`, or their digest from `md5`.',
    nextStep:
      'Send the parts that are missing or wrong again, and complete the upload with the ids of the right ones.',
  },
  too_many_files: {
    status: 400,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The project keeps as many files, or as many bytes, as it may. Files, uploads in progress and the results of batches count.',
    nextStep:
      'Delete files that you no longer need, or let them expire sooner with `expires_after`. Operators: raise `limits.maxFiles` or `limits.filesBytes`.',
  },
  too_many_files_at_once: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'This node has no memory left for another file that arrives: other files are still arriving, and each project has a share.',
    nextStep: 'Retry after `retry-after`, and send fewer files at once. Operators: add nodes.',
  },
  disk_full: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning:
      'The disk of this node has too little free space: the rest is kept for the ledger, which must not run out of it before files do.',
    nextStep:
      'Retry later, and delete files that you no longer need. Operators: free space on the disk, make it larger, or lower `limits.diskReserveBytes`.',
  },
  file_store_unreachable: {
    status: 503,
    type: 'server_error',
    retry: true,
    who: 'operator',
    meaning: 'Torana cannot reach the database or the store that it keeps files in.',
    nextStep: 'Retry. Operators: check `DATABASE_URL`, and the store that `ASSETS_URL` names.',
  },
} as const satisfies Readonly<Record<string, FaultEntry>>

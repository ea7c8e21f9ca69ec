/** The names that images and what belongs to them are kept under: what has another name was put there by somebody else. */

const SHA256 = '[0-9a-f]{64}'
/** UUIDv7. */
const JOB = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

/** What a batch keeps of its pictures is in its folder. */
const FOLDER = '(?:batches/batch_[0-9a-f]{32}/)?'

const PICTURE = new RegExp(`^${FOLDER}pictures/${SHA256}$`)
const DELIVERY = new RegExp(`^${FOLDER}jobs/${JOB}/\\d{1,4}\\.json$`)
const THUMBNAIL = new RegExp(`^jobs/${JOB}/\\d{1,4}-\\d{1,3}-\\d{1,4}\\.webp$`)
const INPUT = new RegExp(`^inputs/${JOB}/${SHA256}\\.\\d{1,4}$`)

/** Others, too, may call pictures by their digest. */
export function isPictureName(name: string): boolean {
  return PICTURE.test(name)
}

/** A delivery record, a small copy of a picture, or a piece of a file: nobody else has names like these. */
export function isJobBlobName(name: string): boolean {
  return isDeliveryName(name) || THUMBNAIL.test(name) || INPUT.test(name)
}

/** What one call delivered. */
export function isDeliveryName(name: string): boolean {
  return DELIVERY.test(name)
}

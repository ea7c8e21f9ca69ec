/** The names under which images and their records are kept: a blob with another name is not ours. */

const SHA256 = '[0-9a-f]{64}'
/** UUIDv7. */
const JOB = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

/** A batch keeps its images in its folder. */
const FOLDER = '(?:batches/batch_[0-9a-f]{32}/)?'

const PICTURE = new RegExp(`^${FOLDER}pictures/${SHA256}$`)
const DELIVERY = new RegExp(`^${FOLDER}jobs/${JOB}/\\d{1,4}\\.json$`)
const THUMBNAIL = new RegExp(`^jobs/${JOB}/\\d{1,4}-\\d{1,3}-\\d{1,4}\\.webp$`)
const INPUT = new RegExp(`^inputs/${JOB}/${SHA256}\\.\\d{1,4}$`)

/** Others may also name images by their digest. */
export function isPictureName(name: string): boolean {
  return PICTURE.test(name)
}

/** A delivery record, a thumbnail, or a part of a file: only Torana makes names like these. */
export function isJobBlobName(name: string): boolean {
  return isDeliveryName(name) || THUMBNAIL.test(name) || INPUT.test(name)
}

/** What one call delivered. */
export function isDeliveryName(name: string): boolean {
  return DELIVERY.test(name)
}

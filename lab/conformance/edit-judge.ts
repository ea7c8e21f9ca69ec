/** Says whether an upstream got the files that a client sent, and whether exactly the marked pixels were changed. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import type { LogEntry } from '../fake-provider/log.ts'
import type { GivenFile } from './given-pictures.ts'
import type { ExpectedEdit } from './image-rows.ts'
import { must } from './unfit.ts'

export function mustHaveArrived({ images, mask, isTranslated, sentAs }: ExpectedEdit, entry: LogEntry): void {
  const { parts = [] } = entry
  const isMask = ({ name }: { name: string }): boolean => /mask/i.test(name)
  const pictures = parts.filter((part) => !isMask(part)).map(({ sha256 }) => sha256)
  const wanted = images.map(sumOf)
  const arrived = `the upstream got ${parts.map(({ name, bytes }) => `${name} of ${bytes} bytes`).join(', ')}`
  must(pictures.join() === wanted.join(), `${images.map(({ name }) => name).join(', ')} once each`, arrived)
  const masks = parts.filter(isMask)
  must(masks.length === (mask === undefined ? 0 : 1), mask === undefined ? 'no mask' : 'one mask', arrived)
  if (mask !== undefined) {
    const isSame = masks[0]?.sha256 === sumOf(mask)
    must(isSame !== isTranslated, isTranslated ? 'a mask of colour' : 'the mask as it was sent', arrived)
  }
  must(sentAs === undefined || entry.sentAs === sentAs, `a body of ${sentAs}`, `one of ${entry.sentAs}`)
  must(entry.painted === true, 'an answer painted over the picture', 'a drawing')
}

/** Mean difference of a channel, of 255, that a lossy format may make. */
const maxDifference = 8

/** The fake provider inverts every colour where the mask allows it, and leaves the rest alone. */
export async function mustBePainted({ images, mask }: ExpectedEdit, file: string): Promise<void> {
  const [first] = images
  if (first === undefined) return
  const [before, after, holes] = await Promise.all([
    pixelsOf(first.file),
    pixelsOf(file),
    mask && pixelsOf(mask.file),
  ])
  const { format } = await sharp(file).metadata()
  const isEdited = (at: number): boolean => holes === undefined || holes[at + 3] === 0
  const count = { outside: 0, inside: 0, difference: 0 }
  for (let at = 0; at < before.length; at += 4) {
    let isRight = after[at + 3] === (isEdited(at) ? 255 : before[at + 3])
    for (let channel = at; channel < at + 3; channel++) {
      const wanted = isEdited(at) ? 255 - (before[channel] as number) : (before[channel] as number)
      isRight &&= after[channel] === wanted
      count.difference += Math.abs((after[channel] as number) - wanted) / ((before.length / 4) * 3)
    }
    if (!isRight) count[isEdited(at) ? 'inside' : 'outside'] += 1
  }
  must(after.length === before.length, 'a picture of the same size', `another: ${file}`)
  const isExact = format === 'png'
  must(!isExact || count.outside === 0, 'no pixel changed outside the mask', `${count.outside}: ${file}`)
  must(!isExact || count.inside === 0, 'every marked pixel changed', `${count.inside} were not: ${file}`)
  must(count.difference <= maxDifference, 'the picture as painted', `${count.difference} beside it: ${file}`)
}

function pixelsOf(file: string): Promise<Buffer> {
  return sharp(file).ensureAlpha().raw().toBuffer()
}

const sums = new Map<string, string>()

function sumOf({ file }: GivenFile): string {
  let sum = sums.get(file)
  if (sum === undefined) {
    sum = createHash('sha256').update(readFileSync(file)).digest('hex')
    sums.set(file, sum)
  }
  return sum
}

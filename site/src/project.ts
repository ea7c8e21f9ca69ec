/** Facts of the project that several components print. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// Astro runs a build in the folder of its configuration.
const read = (path: string): unknown => JSON.parse(readFileSync(join(process.cwd(), path), 'utf8'))

const server = read('../server/package.json') as {
  readonly version: string
  readonly repository: { readonly url: string }
}

export const VERSION = server.version
/** The address of the repository. */
export const SOURCE = server.repository.url.replace(/^git\+|\.git$/g, '')
/** The path below which the site is served, with a slash at both ends. */
export const base = import.meta.env.BASE_URL

interface Figure {
  readonly text: string
  /** Of a measured one. */
  readonly date: string
}
const figures = read('../docs/figures.json') as Readonly<Record<string, Figure>>

/** The figure as `docs/figures.json` has it. The build fails without it. */
export function figure(id: string): string {
  return found(id).text
}

/** The day it was measured: `16 November 2026`. */
export function measuredOn(id: string): string {
  return dayOf(found(id).date)
}

/** The figure as a number: `12.1×` is 12.1, and `10,284 µs` is 10284. */
export function numberOf(id: string): number {
  return Number(/[\d.]+/.exec(figure(id).replaceAll(',', ''))?.[0])
}

export function dayOf(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(date))
}

function found(id: string): Figure {
  const one = figures[id]
  if (one === undefined)
    throw new Error(`the home page needs the figure ${id}, which docs/figures.json does not have`)
  return one
}

export const HOME_CARD = (read('.cache/site.json') as { readonly homeCard: string }).homeCard

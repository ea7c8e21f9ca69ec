/** The keys whose requests pin a space: the busiest by name, and how many more there are. */
import { Fragment } from 'react'
import type { Schema } from '../../api/client.ts'
import { paths } from '../../app/paths.ts'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'

/** As many as fit into two lines of a dialog. */
const MOST_NAMED = 6

export function PinningKeys({ pins }: { readonly pins: readonly Schema<'SpacePin'>[] }) {
  return (
    <>
      {pins.slice(0, MOST_NAMED).map(({ key }, index) => (
        <Fragment key={key}>
          {index > 0 && ', '}
          <TextLink to={paths.key(key)} className="underline">
            {key}
          </TextLink>
        </Fragment>
      ))}
      {pins.length > MOST_NAMED && ` ${words.deployments.morePins(pins.length - MOST_NAMED)}`}
    </>
  )
}

/** Faults of the control API only. */
import type { FaultEntry } from './entry.ts'

const refusedFeed = { type: 'invalid_request_error', retry: false, who: 'operator' } as const

export const CONTROL_FAULTS = {
  forbidden: {
    status: 403,
    type: 'permission_error',
    retry: false,
    who: 'operator',
    meaning:
      'The control API knows who asks, and that person or token may not do this: its role is too small, the project is not one of theirs, or it may only read.',
    nextStep:
      'Ask an admin to do it, or to change the role. The message names the permission that is missing.',
  },
  wrong_host: {
    status: 421,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'The control port was asked by a name that is not its own. A page of another site could have led that name to this node, so it answers nothing.',
    nextStep:
      'Open the console by its address, by `localhost`, or by the name in `CONSOLE_URL`. Operators: set `CONSOLE_URL` to the address that people open.',
  },
  configuration_changed: {
    status: 409,
    type: 'invalid_request_error',
    retry: false,
    who: 'caller',
    meaning:
      'Another person or program changed the same upstream or model after you had read it. Nothing of your change was saved.',
    nextStep:
      'The message says who changed what and when. Read the object again, look at its change, then repeat yours from its new revision.',
  },
  catalog_feed_invalid: {
    ...refusedFeed,
    status: 400,
    meaning:
      'A catalogue feed is not one that this version of Torana can read: it is not JSON, has another format, fields or facts that this version does not know, or is larger than a feed may be. Nothing was stored.',
    nextStep:
      'The message names the first problem. Check that the address or file is a feed. If its format is newer, upgrade Torana first.',
  },
  catalog_feed_untrusted: {
    ...refusedFeed,
    status: 400,
    meaning:
      'A catalogue feed has no valid signature of a trusted key: it was changed on its way, or another party signed it. Nothing was stored.',
    nextStep:
      'Take it from its publisher again. To trust another publisher, write its public key under `catalog.keys` in torana.yaml.',
  },
  catalog_feed_stale: {
    ...refusedFeed,
    status: 409,
    meaning:
      'The sequence of a catalogue feed is not above the highest that was ever stored or built in, or is taken by another feed. An attacker could replay an old feed to bring back old prices.',
    nextStep: 'Take the newest feed. To go back to one that is stored: `torana catalog pin <sequence>`.',
  },
  catalog_feed_unfit: {
    ...refusedFeed,
    status: 409,
    meaning:
      'With the facts of this catalogue feed, torana.yaml or a stored model would be invalid. Nothing was stored.',
    nextStep:
      'The message lists the problems, as `torana check` would. Change torana.yaml first: what it declares takes precedence over any feed.',
  },
  catalog_vector_changes: {
    ...refusedFeed,
    status: 409,
    meaning:
      'The catalogue feed changes facts that decide the vectors of models in use, such as a prefix or a width. Vectors made afterwards may not fit those in your indexes. Nothing was changed.',
    nextStep:
      'Read the list in the message. Keep a fact as it is by declaring it in torana.yaml, or accept the change with `--accept-vector-changes` and embed the documents again.',
  },
  catalog_feed_unreachable: {
    status: 502,
    type: 'upstream_error',
    retry: true,
    who: 'operator',
    meaning: 'Torana could not download the catalogue feed.',
    nextStep:
      'Check the address. It has to be https on the public internet, or be `catalog.url` of torana.yaml. A file works without a network: `torana catalog pull feed.json`.',
  },
} as const satisfies Record<string, FaultEntry>

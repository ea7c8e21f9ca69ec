/** The providers that most people come with, and a way to all others. Two letters stand for each: no trade marks. */
import type { Schema } from '../../api/client.ts'
import { initials } from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import { SERVERS, TILES, type Tile } from './form.ts'

const LETTERS: Partial<Record<Tile, string>> = {
  openai: 'AI',
  azure: 'Az',
  google: 'G',
  own: '⌂',
  cohere: 'Co',
  'amazon-bedrock': 'Be',
  'black-forest-labs': 'BF',
  more: '…',
}

const NAMES: Partial<Record<Tile, string>> = { google: 'Google', own: words.upstreams.ownServer }

interface TilesProps {
  readonly providers: readonly Schema<'Provider'>[]
  readonly value: Tile
  readonly onChange: (tile: Tile) => void
}

export function Tiles({ providers, value, onChange }: TilesProps) {
  const others = providers.length - (TILES.length - 1) - SERVERS.length
  const nameOf = (tile: (typeof TILES)[number]) =>
    NAMES[tile] ?? providers.find(({ id }) => id === tile)?.name ?? tile
  return (
    <div
      role="group"
      aria-label={words.upstreams.provider}
      className="grid grid-cols-[repeat(auto-fill,minmax(156px,1fr))] gap-2"
    >
      {TILES.map((tile) => (
        <TileButton
          key={tile}
          tile={tile}
          name={nameOf(tile)}
          note={words.upstreams.tiles[tile]}
          isChosen={tile === value}
          onChoose={onChange}
        />
      ))}
      <TileButton
        tile="more"
        name={words.upstreams.more(Math.max(0, others))}
        note={words.upstreams.moreNote}
        isChosen={value === 'more'}
        onChoose={onChange}
      />
    </div>
  )
}

interface TileButtonProps {
  readonly tile: Tile
  readonly name: string
  readonly note: string
  readonly isChosen: boolean
  readonly onChoose: (tile: Tile) => void
}

function TileButton({ tile, name, note, isChosen, onChoose }: TileButtonProps) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={classes(
        'flex h-13 items-center gap-2 rounded-control border px-2 text-left transition-colors duration-120',
        isChosen
          ? 'border-accent bg-accent-tint ring-1 ring-accent'
          : 'border-line bg-surface hover:bg-hover',
      )}
      onClick={() => onChoose(tile)}
    >
      <span className="flex size-7 shrink-0 items-center justify-center rounded-chip bg-tag text-11 font-semibold text-ink-2">
        {LETTERS[tile] ?? initials(name)}
      </span>
      <span className="min-w-0">
        <span className="block truncate text-13 font-medium">{name}</span>
        <span className="block truncate text-11 text-ink-3">{note}</span>
      </span>
    </button>
  )
}

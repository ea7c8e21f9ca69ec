/** Shares what a page shows: its address for colleagues, or a snapshot for anyone with the link. */
import { Camera, Link2, List, Share2 } from 'lucide-react'
import { useState } from 'react'
import type { SnapshotPage } from '../../api/queries/snapshots.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import type { SnapshotSubject } from './snapshot-sheet.tsx'

const SnapshotSheet = lazyPart(async () => (await import('./snapshot-sheet.tsx')).SnapshotSheet)
const SnapshotLinks = lazyPart(async () => (await import('./snapshot-links.tsx')).SnapshotLinks)

interface ShareMenuProps {
  readonly page: SnapshotPage
  /** By the names of its parts, the parameters that the page asks for each with. */
  readonly queries: () => Readonly<Record<string, object>>
}

export function ShareMenu({ page, queries }: ShareMenuProps) {
  const { member } = useSession()
  const [subject, setSubject] = useState<SnapshotSubject>()
  const [isListed, setListed] = useState(false)
  const say = words.snapshots
  const copy = async (): Promise<void> => {
    if (await copyText(window.location.href)) toast(say.copied, { text: say.copiedText })
  }
  return (
    <>
      <Menu align="end" trigger={<Button icon={<Share2 size={14} aria-hidden />}>{say.share}</Button>}>
        <MenuItem icon={<Link2 size={15} aria-hidden className="text-ink-3" />} onSelect={() => void copy()}>
          {say.copy}
        </MenuItem>
        <MenuItem
          icon={<Camera size={15} aria-hidden className="text-ink-3" />}
          why={member === null ? say.membersOnly : undefined}
          // What the page shows at this moment, not when the sheet is sent.
          onSelect={() => setSubject({ page, queries: queries() })}
        >
          {say.create}
        </MenuItem>
        <MenuItem
          icon={<List size={15} aria-hidden className="text-ink-3" />}
          onSelect={() => setListed(true)}
        >
          {say.links}
        </MenuItem>
      </Menu>
      {subject !== undefined && <SnapshotSheet subject={subject} onClose={() => setSubject(undefined)} />}
      {isListed && <SnapshotLinks onClose={() => setListed(false)} />}
    </>
  )
}

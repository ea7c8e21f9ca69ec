/** A list whose members know their neighbours, so that any of them can be removed in constant time. */
export interface Linked<Member> {
  before: Member | undefined
  after: Member | undefined
}

export interface List<Member> {
  first: Member | undefined
  last: Member | undefined
  length: number
}

export function emptyList<Member>(): List<Member> {
  return { first: undefined, last: undefined, length: 0 }
}

export function append<Member extends Linked<Member>>(list: List<Member>, member: Member): void {
  member.before = list.last
  member.after = undefined
  if (list.last) list.last.after = member
  else list.first = member
  list.last = member
  list.length += 1
}

/** `next` must be in the list. */
export function insertBefore<Member extends Linked<Member>>(
  list: List<Member>,
  member: Member,
  next: Member,
): void {
  member.before = next.before
  member.after = next
  if (next.before) next.before.after = member
  else list.first = member
  next.before = member
  list.length += 1
}

/** The member must be in the list. */
export function unlink<Member extends Linked<Member>>(list: List<Member>, member: Member): void {
  if (member.before) member.before.after = member.after
  else list.first = member.after
  if (member.after) member.after.before = member.before
  else list.last = member.before
  member.before = undefined
  member.after = undefined
  list.length -= 1
}

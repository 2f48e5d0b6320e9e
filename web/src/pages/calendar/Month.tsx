import { IconPlus, IconRepeat } from '@tabler/icons-react'
import dayjs from 'dayjs'
import { type DragEvent, type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Post } from '../../api/client'
import { NetworkIcon } from '../../components/network'
import { looks, statusOf } from '../../components/status'
import { dayName, days } from '../../lib/rule'
import { format, toWall, type Wall } from '../../lib/time'
import { type Entry, type FreeSlot, rankOf } from './events'
import type { Planned } from './planned'

/** One line of a day. */
export interface Line {
  key: string
  at: Wall
  entry: Entry
}

/** What is on each day: problems first, because not everything may be shown, and then in order of time. */
export function linesOf(
  posts: Post[],
  planned: Planned[],
  slots: FreeSlot[],
  zone: string,
): Map<string, { lines: Line[]; slots: Line[] }> {
  const out = new Map<string, { lines: Line[]; slots: Line[] }>()
  const add = (line: Line, kind: 'lines' | 'slots') => {
    const date = line.at.slice(0, 10)
    let day = out.get(date)
    if (!day) {
      day = { lines: [], slots: [] }
      out.set(date, day)
    }
    day[kind].push(line)
  }
  for (const post of posts)
    if (post.scheduled_time) add({ key: post.id, at: toWall(post.scheduled_time, zone), entry: { post } }, 'lines')
  for (const p of planned)
    add({ key: `${p.series.id} ${p.occurrence}`, at: toWall(p.at, zone), entry: { planned: p } }, 'lines')
  for (const slot of slots)
    add({ key: `${slot.group.id} ${slot.at}`, at: toWall(slot.at, zone), entry: { slot } }, 'slots')
  const inOrder = (a: Line, b: Line) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)
  const isProblem = (l: Line) => rankOf(l.entry) === 0
  for (const day of out.values()) {
    day.lines.sort((a, b) => Number(isProblem(b)) - Number(isProblem(a)) || inOrder(a, b))
    day.slots.sort(inOrder)
  }
  return out
}

interface Props {
  first: string
  month: string
  today: string
  perDay: number
  lines: ReturnType<typeof linesOf>
  may: boolean
  colorOf: (post: Post) => string
  open: (entry: Entry, at: HTMLElement) => void
  showDay: (date: string) => void
  drop: (post: Post, when: Wall) => void
  dragging: (now: boolean) => void
}

/** The weeks of a month as a table. Cells are plain elements: a month of a thousand posts is drawn in a moment. */
export const Month = memo(function Month({
  first,
  month,
  today,
  perDay,
  lines,
  may,
  colorOf,
  open,
  showDay,
  drop,
  dragging,
}: Props) {
  const { t, i18n } = useTranslation()
  const [over, setOver] = useState('')
  const weeks = useMemo(() => {
    const start = dayjs(first)
    const dates = Array.from({ length: 42 }, (_, i) => start.add(i, 'day').format('YYYY-MM-DD'))
    return Array.from({ length: 6 }, (_, i) => dates.slice(i * 7, i * 7 + 7)).filter((week) =>
      week.some((d) => d.startsWith(month)),
    )
  }, [first, month])
  const dropped = (e: DragEvent, date: string) => {
    e.preventDefault()
    setOver('')
    const id = e.dataTransfer.getData('text/plain')
    for (const day of lines.values()) {
      const line = day.lines.find((l) => l.key === id)
      if (line?.entry.post && !line.at.startsWith(date)) drop(line.entry.post, `${date}${line.at.slice(10)}`)
    }
  }
  const box = useRef<HTMLDivElement>(null)
  const isLoaded = lines.size > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: posts make the week taller
  useEffect(() => {
    // The current week is in sight without scrolling.
    if (today.startsWith(month)) box.current?.querySelector('[data-today]')?.scrollIntoView({ block: 'nearest' })
  }, [today, month, isLoaded])
  return (
    <div className="dl-month-box" ref={box}>
      <table className="dl-month">
        <thead>
          <tr>
            {days.map((d) => (
              <th key={d} scope="col" abbr={dayName(d, i18n.language)}>
                {dayName(d, i18n.language, 'short')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={byArrows}>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((date) => (
                <td
                  key={date}
                  data-day={date}
                  data-today={date === today || undefined}
                  data-outside={!date.startsWith(month) || undefined}
                  data-over={over === date || undefined}
                  onDragOver={(e) => {
                    e.preventDefault()
                    if (over !== date) setOver(date)
                  }}
                  onDrop={(e) => dropped(e, date)}
                >
                  <Day
                    date={date}
                    today={date === today}
                    perDay={perDay}
                    day={lines.get(date)}
                    may={may}
                    colorOf={colorOf}
                    open={open}
                    showDay={showDay}
                    dragging={dragging}
                    label={format(`${date}T12:00Z`, i18n.language, 'UTC', {
                      weekday: 'long',
                      day: 'numeric',
                      month: 'long',
                    })}
                    more={(count) => t('calendar.more', { count })}
                    freeCount={(count) => t('calendar.freeCount', { count })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
})

/** Arrow keys lead from day to day. */
function byArrows(e: KeyboardEvent<HTMLElement>) {
  const cell = (e.target as HTMLElement).closest('td')
  const row = cell?.closest('tr')
  if (!cell || !row || e.altKey || e.ctrlKey || e.metaKey) return
  const table = row.closest('tbody')
  const cells = [...(table?.querySelectorAll('td') ?? [])]
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[e.key]
  const next = step === undefined ? undefined : cells[cells.indexOf(cell) + step]?.querySelector('button')
  if (!next) return
  e.preventDefault()
  next.focus()
}

interface DayProps {
  date: string
  today: boolean
  perDay: number
  day?: { lines: Line[]; slots: Line[] }
  may: boolean
  label: string
  more: (count: number) => string
  freeCount: (count: number) => string
  colorOf: (post: Post) => string
  open: (entry: Entry, at: HTMLElement) => void
  showDay: (date: string) => void
  dragging: (now: boolean) => void
}

function Day({
  date,
  today,
  perDay,
  day = { lines: [], slots: [] },
  may,
  label,
  more,
  freeCount,
  colorOf,
  open,
  showDay,
  dragging,
}: DayProps) {
  const shown = day.lines.length > perDay ? day.lines.slice(0, perDay - 1) : day.lines
  const hidden = day.lines.length - shown.length
  const [slot] = day.slots
  // The free slots are one line, at the time of the first: they must not push posts away.
  const free: Line | undefined =
    slot && hidden === 0 && shown.length < perDay
      ? day.slots.length === 1
        ? slot
        : { ...slot, entry: { overflow: { hidden: day.slots.length, entries: day.slots.map((l) => l.entry) } } }
      : undefined
  const lines = free ? [...shown, free].sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at)) : shown
  return (
    <>
      <div className="dl-month-head">
        <button
          type="button"
          className="dl-month-date"
          aria-label={label}
          aria-current={today ? 'date' : undefined}
          onClick={() => showDay(date)}
        >
          {Number(date.slice(8))}
        </button>
        {slot && !free && (
          <button
            type="button"
            className="dl-month-free"
            title={freeCount(day.slots.length)}
            aria-label={freeCount(day.slots.length)}
            onClick={(e) =>
              open({ overflow: { hidden: day.slots.length, entries: day.slots.map((l) => l.entry) } }, e.currentTarget)
            }
            data-free-slots={day.slots.length}
          >
            <IconPlus size={11} aria-hidden />
            {day.slots.length}
          </button>
        )}
      </div>
      {lines.map((l) => (
        <Item key={l.key} line={l} may={may} colorOf={colorOf} open={open} dragging={dragging} />
      ))}
      {hidden > 0 && (
        <button type="button" className="dl-month-more" onClick={() => showDay(date)}>
          {more(hidden)}
        </button>
      )}
    </>
  )
}

function Item({
  line: { entry, at, key },
  may,
  colorOf,
  open,
  dragging,
}: { line: Line } & Pick<DayProps, 'may' | 'colorOf' | 'open' | 'dragging'>) {
  const { t } = useTranslation()
  const clock = <time className="dl-numbers">{at.slice(11, 16)}</time>
  if (entry.overflow)
    return (
      <button
        type="button"
        className="dl-month-item"
        data-kind="slot"
        data-free-slots={entry.overflow.hidden}
        onClick={(e) => open(entry, e.currentTarget)}
      >
        <IconPlus size={12} aria-hidden />
        {clock}
        <span>{t('calendar.freeCount', { count: entry.overflow.hidden })}</span>
      </button>
    )
  if (entry.slot)
    return (
      <button
        type="button"
        className="dl-month-item"
        data-kind="slot"
        data-free-slot={entry.slot.group.name}
        onClick={(e) => open(entry, e.currentTarget)}
      >
        <IconPlus size={12} aria-label={t('calendar.freeSlotShort')} role="img" />
        {clock}
        <span>{entry.slot.group.name}</span>
      </button>
    )
  if (entry.planned)
    return (
      <button
        type="button"
        className="dl-month-item"
        data-kind="planned"
        data-planned={entry.planned.series.id}
        onClick={(e) => open(entry, e.currentTarget)}
      >
        <IconRepeat size={13} aria-label={t('series.planned')} role="img" />
        {clock}
        <span>{entry.planned.series.template.content || t('post.noText')}</span>
      </button>
    )
  const { post } = entry
  const status = statusOf(post)
  const { icon: Icon } = looks[status]
  const movable = may && (post.status === 'draft' || post.status === 'scheduled')
  const networks: string[] = []
  for (const { network } of post.targets) if (networks.length < 3 && !networks.includes(network)) networks.push(network)
  return (
    <button
      type="button"
      className="dl-month-item"
      style={{ '--dl-color': `var(--mantine-color-${colorOf(post)}-6)` } as object}
      data-post={post.id}
      data-status={status}
      draggable={movable}
      onDragStart={(e) => {
        e.dataTransfer.setData('text/plain', key)
        e.dataTransfer.effectAllowed = 'move'
        dragging(true)
      }}
      onDragEnd={() => dragging(false)}
      onClick={(e) => open(entry, e.currentTarget)}
    >
      <Icon size={13} aria-label={t(`status.${status}`)} role="img" />
      {networks.map((n) => (
        <NetworkIcon key={n} network={n} size={13} />
      ))}
      {post.series_id && <IconRepeat size={13} aria-label={t('series.one')} role="img" />}
      {clock}
      <span>{post.content || t('post.noText')}</span>
    </button>
  )
}

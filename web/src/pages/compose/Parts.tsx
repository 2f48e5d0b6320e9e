import { ActionIcon, Badge, Button, Group, NumberInput, Stack, Text, Tooltip } from '@mantine/core'
import { IconArrowUp, IconCheck, IconListNumbers, IconPlus, IconTrash } from '@tabler/icons-react'
import { memo, useCallback, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { Account } from '../../api/client'
import { NetworkIcon, networkName } from '../../components/network'
import { formatCount } from '../../i18n/message'
import { notifyUndo } from '../../lib/notify'
import { emptyPart, type Part } from './draft'
import { MediaField } from './MediaField'
import { MentionTextarea } from './MentionTextarea'
import { Snippets } from './Snippets'
import { type Limit, splitFor } from './split'

export interface Count {
  network: string
  handle: string
  used?: number
  allowed?: number
  /** How many letters the text has, which a network may count otherwise. */
  letters: number
}

/** The segments of a post; several form a thread. */
export function Parts({
  value,
  change,
  counts,
  label,
  accounts = nobody,
  added,
  published = 0,
}: {
  value: Part[]
  change: (update: (p: Part[]) => Part[]) => void
  counts: Count[][]
  label: string
  accounts?: Account[]
  added?: (part: number, files: string[]) => void /** So many parts are published and cannot be changed. */
  published?: number
}) {
  const { t } = useTranslation()
  const latest = useRef(value)
  useEffect(() => {
    latest.current = value
  })
  const split = useCallback(
    (i: number, limits: Limit[]) => {
      const part = latest.current[i]
      if (!part) return
      const [first = '', ...rest] = splitFor(part.content, limits)
      const parts = [{ ...part, content: first }, ...rest.map((content) => ({ ...emptyPart(), content }))]
      change((all) => all.flatMap((p, j) => (j === i ? parts : [p])))
      notifyUndo(t('compose.splitDone', { count: parts.length }), () =>
        change((all) => all.flatMap((p, j) => (j === i ? [part] : j > i && j < i + parts.length ? [] : [p]))),
      )
    },
    [change, t],
  )
  return (
    <Stack gap="sm">
      {value.map((part, i) =>
        i < published ? (
          <Stack key={i} gap={6} className="dl-card" p="sm" data-published-part={i}>
            <Group justify="space-between">
              <Text size="sm" fw={600} c="dimmed">
                {t('compose.partOf', { part: i + 1, parts: value.length })}
              </Text>
              <Badge variant="light" color="green" tt="none" leftSection={<IconCheck size={14} aria-hidden />}>
                {t('compose.published')}
              </Badge>
            </Group>
            <Text size="sm" className="dl-text">
              {part.content}
            </Text>
          </Stack>
        ) : (
          <EditPart
            key={i}
            i={i}
            part={part}
            parts={value.length}
            isFirst={i === published}
            change={change}
            counts={counts[i] ?? none}
            split={split}
            label={label}
            accounts={accounts}
            added={added}
          />
        ),
      )}
      <Button
        variant="default"
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={() => change((all) => [...all, emptyPart()])}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('compose.addPart')}
      </Button>
    </Stack>
  )
}

/** One segment: a letter rerenders it and none of the others. */
const EditPart = memo(function EditPart({
  i,
  part,
  parts,
  isFirst,
  change,
  counts,
  split,
  label,
  accounts,
  added,
}: {
  i: number
  part: Part
  /** How many there are. */
  parts: number
  /** Nothing above it can change places with it. */
  isFirst: boolean
  change: (update: (p: Part[]) => Part[]) => void
  counts: Count[]
  split: (part: number, limits: Limit[]) => void
  label: string
  accounts: Account[]
  added?: (part: number, files: string[]) => void
}) {
  const { t } = useTranslation()
  const set = (update: (p: Part) => Part) => change((all) => all.map((p, j) => (j === i ? update(p) : p)))
  return (
    <Stack gap={6} className="dl-card" p="sm">
      {parts > 1 && (
        <Group justify="space-between">
          <Text size="sm" fw={600} c="dimmed">
            {t('compose.partOf', { part: i + 1, parts })}
          </Text>
          <Group gap={4}>
            {!isFirst && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('compose.partUp', { part: i + 1 })}
                onClick={() => change((all) => swap(all, i))}
              >
                <IconArrowUp size={18} aria-hidden />
              </ActionIcon>
            )}
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={t('compose.partRemove', { part: i + 1 })}
              onClick={() => change((all) => all.filter((_, j) => j !== i))}
            >
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
      )}
      <MentionTextarea
        aria-label={parts > 1 ? `${label} ${i + 1}` : label}
        placeholder={i === 0 ? t('compose.placeholder') : t('compose.placeholderThread')}
        autosize
        minRows={i === 0 ? 5 : 3}
        maxRows={18}
        maxLength={100_000}
        variant="unstyled"
        size="md"
        value={part.content}
        data-part={i}
        accounts={accounts}
        change={(content) => set((p) => ({ ...p, content }))}
      />
      {i > 0 && (
        <NumberInput
          size="xs"
          w={190}
          label={t('compose.afterMinutes')}
          min={0}
          max={1440}
          allowDecimal={false}
          value={part.after_minutes ?? 0}
          onChange={(n) => set((p) => ({ ...p, after_minutes: Number(n) > 0 ? Number(n) : undefined }))}
        />
      )}
      <Snippets part={i} change={change} />
      <Counts counts={counts} part={i} split={split} />
      <PartMedia part={i} value={part.attachments} change={change} added={added} />
    </Stack>
  )
})

const none: Count[] = []
const nobody: Account[] = []

const Counts = memo(function Counts({
  counts,
  part,
  split,
}: {
  counts: Count[]
  part: number
  split: (part: number, limits: Limit[]) => void
}) {
  const { t } = useTranslation()
  const limits = counts.flatMap(({ network, used, allowed }) =>
    used !== undefined && allowed !== undefined ? [{ network, used, allowed }] : [],
  )
  return (
    <Group gap={6} aria-live="polite">
      {counts.map((c) => (
        <CountBadge key={`${c.network} ${c.handle}`} {...c} />
      ))}
      {limits.some((l) => l.used > l.allowed) && (
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<IconListNumbers size={16} aria-hidden />}
          onClick={() => split(part, limits)}
        >
          {t('compose.split')}
        </Button>
      )}
    </Group>
  )
})

/** The files of a segment: rerendered only when they change, not with every letter. */
const PartMedia = memo(function PartMedia({
  part,
  value,
  change,
  added,
}: {
  part: number
  value: string[]
  change: (update: (p: Part[]) => Part[]) => void
  added?: (part: number, files: string[]) => void
}) {
  const { t } = useTranslation()
  const set = (update: (ids: string[]) => string[]) =>
    change((all) => all.map((p, j) => (j === part ? { ...p, attachments: update(p.attachments) } : p)))
  return (
    <MediaField
      library
      label={t('compose.addMediaTo', { part: part + 1 })}
      value={value}
      added={(files) => added?.(part, files)}
      add={(m) => set((ids) => [...ids, m.id])}
      replace={(id, by) => set((ids) => ids.map((a) => (a === id ? by.id : a)))}
      remove={(id) => set((ids) => ids.filter((a) => a !== id))}
    />
  )
})

function swap(all: Part[], i: number): Part[] {
  const out = [...all]
  const [above, below] = [out[i - 1], out[i]]
  // The wait belongs to the position in the thread.
  if (above && below)
    out.splice(
      i - 1,
      2,
      { ...below, after_minutes: above.after_minutes },
      { ...above, after_minutes: below.after_minutes },
    )
  return out
}

function CountBadge({ network, handle, used, allowed, letters }: Count) {
  const { t, i18n } = useTranslation()
  if (used === undefined) return null
  const over = allowed !== undefined && used > allowed
  const near = allowed !== undefined && used > allowed * 0.9
  const count = (n: number) => formatCount(n, i18n.language)
  const who = `${networkName(network)} ${handle}`
  return (
    <Tooltip
      multiline
      maw={280}
      events={{ hover: true, focus: true, touch: true }}
      label={
        used === letters
          ? who
          : `${who}. ${t('compose.counted', { network: networkName(network), used: count(used), letters: count(letters) })}`
      }
    >
      <Badge
        variant="light"
        color={over ? 'red' : near ? 'orange' : 'gray'}
        size="lg"
        tt="none"
        fw={600}
        tabIndex={0}
        className="dl-numbers"
        leftSection={<NetworkIcon network={network} size={14} />}
        data-count={network}
      >
        {allowed === undefined ? t('compose.count', { count: used }) : `${count(used)} / ${count(allowed)}`}
      </Badge>
    </Tooltip>
  )
}

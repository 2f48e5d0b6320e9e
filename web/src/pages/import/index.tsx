import { Alert, Badge, Button, FileButton, Group, SegmentedControl, Stack, Table, Text, Textarea } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconFileImport, IconUpload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, idempotencyHeader, type Schemas, unwrap } from '../../api/client'
import { Page } from '../../components/Page'
import { Empty } from '../../components/states'
import { problemText, warningText } from '../../i18n/message'
import { useAct } from '../../lib/act'
import { decode, type Sheet } from '../../lib/csv'
import { notifyError } from '../../lib/notify'
import { refreshPosts } from '../../lib/posts'
import { formatWall } from '../../lib/time'
import { linesOf, type Prepared, prepare, readFile } from './local'

type Result = Schemas['BulkResult']

interface File extends Prepared {
  name: string
  sheet: Sheet
  key: { 'Idempotency-Key': string }
}

const shown = 500 // rows in the table

const read = (name: string, sheet: Sheet, language: string): File => ({
  name,
  sheet,
  ...prepare(sheet, language),
  key: idempotencyHeader(),
})

const send = (text: string, dry_run: boolean, mode: 'all' | 'valid', key?: File['key']): Promise<Result> =>
  unwrap(
    api.POST('/api/v1/posts/bulk', {
      params: { query: { dry_run, mode }, ...(key ? { header: key } : {}) },
      body: text,
      bodySerializer: (b) => b as string,
      headers: { 'Content-Type': 'text/csv' },
    }),
  ) as Promise<Result>

/** Posts from a spreadsheet: every row is checked and shown before anything is stored. */
export function ImportPage() {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [file, setFile] = useState<File>()
  const [show, setShow] = useState<'all' | 'wrong'>('all')
  const check = useAct({ send: (f: File) => send(f.text, true, 'valid'), done: () => undefined })
  const store = useAct({
    send: (f: File) => send(f.text, false, 'valid', f.key),
    done: ({ created }) => t('import.done', { count: created }),
    accepted: async () => {
      refreshPosts(client)
      await navigate({ to: '/calendar', search: { view: 'agenda' } })
    },
  })
  const choose = async (chosen: globalThis.File | null) => {
    if (!chosen) return
    const text = decode(await chosen.arrayBuffer())
    if (text === undefined) {
      notifyError(new Error(t('import.notUnicode', { name: chosen.name })))
      return
    }
    setShow('all')
    use(read(chosen.name, readFile(text), i18n.language))
  }
  const use = (f: File) => {
    setFile(f)
    check.mutate(f, { onSuccess: (result) => setResult(result) })
  }
  // Rows stay while a mended one is checked again.
  const [result, setResult] = useState<Result>()
  const lines = useMemo(() => (file ? linesOf(file) : new Map<number, number>()), [file])
  const mend = (line: number, cells: Record<string, string>) => {
    if (!file) return
    const { columns, rows, ragged } = file.sheet
    const others = new Map(ragged)
    others.delete(line)
    use(read(file.name, { columns, rows: new Map(rows).set(line, cells), ragged: others }, i18n.language))
  }
  // A row that was wrong stays to be seen when it has been mended.
  const rows = (result?.rows ?? []).filter((r) => show === 'all' || r.errors)
  const pick = (label: string, main: boolean) => (
    <FileButton
      accept=".csv,.tsv,text/csv,text/tab-separated-values"
      onChange={(f) => void choose(f)}
      inputProps={{ 'aria-label': t('import.choose') }}
    >
      {(props) => (
        <Button
          {...props}
          variant={main ? 'filled' : 'default'}
          loading={check.isPending}
          leftSection={<IconUpload size={18} aria-hidden />}
        >
          {label}
        </Button>
      )}
    </FileButton>
  )
  return (
    <Page
      title={t('import.title')}
      lead={t('import.lead')}
      actions={file ? pick(t('import.another'), false) : undefined}
    >
      {!result || !file ? (
        <Empty
          icon={IconFileImport}
          title={t('import.none')}
          text={t('import.noneText')}
          guide="how-to/schedule-in-bulk"
        >
          {pick(t('import.choose'), true)}
          <Button
            variant="default"
            component="a"
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(`\ufeff${sample}`)}`}
            download="posts.csv"
          >
            {t('import.sample')}
          </Button>
        </Empty>
      ) : (
        <Stack gap="sm">
          <Alert
            color={result.invalid > 0 ? 'orange' : 'green'}
            icon={result.invalid > 0 ? <IconAlertTriangle aria-hidden /> : <IconCheck aria-hidden />}
            role="status"
            title={t('import.checked', { count: result.total, name: file.name })}
          >
            <Group justify="space-between">
              <Text size="sm">
                {t('import.valid', { count: result.valid })}{' '}
                {result.invalid > 0 && t('import.invalid', { count: result.invalid })}
              </Text>
              <Button
                disabled={result.valid === 0 || check.isPending}
                loading={store.isPending}
                onClick={() => store.mutate(file)}
              >
                {t('import.store', { count: result.valid })}
              </Button>
            </Group>
          </Alert>
          {result.invalid > 0 && (
            <SegmentedControl
              aria-label={t('import.show')}
              value={show}
              onChange={(v) => setShow(v as 'all' | 'wrong')}
              data={(['all', 'wrong'] as const).map((value) => ({ value, label: t(`import.shows.${value}`) }))}
              style={{ alignSelf: 'flex-start' }}
            />
          )}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <section className="dl-card" style={{ overflowX: 'auto' }} tabIndex={0} aria-label={t('import.rows')}>
            <Table miw={640} verticalSpacing="xs" aria-label={t('import.rows')}>
              <Table.Thead>
                <Table.Tr>
                  {(['row', 'time', 'text', 'result'] as const).map((c) => (
                    <Table.Th key={c}>{t(`import.columns.${c}`)}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.slice(0, shown).map((r) => {
                  const line = lines.get(r.row) ?? r.row
                  return (
                    <Row
                      key={line}
                      line={line}
                      result={r}
                      cells={file.sheet.rows.get(line) ?? {}}
                      columns={file.sheet.columns}
                      ambiguous={file.ambiguous.get(line)}
                      mend={(cells) => mend(line, cells)}
                    />
                  )
                })}
              </Table.Tbody>
            </Table>
          </section>
          {rows.length > shown && <Text c="dimmed">{t('import.more', { count: rows.length - shown })}</Text>}
        </Stack>
      )}
    </Page>
  )
}

function Row({
  line,
  result: r,
  cells,
  columns,
  ambiguous,
  mend,
}: {
  line: number
  result: Schemas['BulkRow']
  cells: Record<string, string>
  columns: string[]
  /** The two readings of its time. */
  ambiguous?: [string, string]
  mend: (cells: Record<string, string>) => void
}) {
  const { t, i18n } = useTranslation()
  // A row that was wrong can be changed until it is stored.
  const [isOpen, setOpen] = useState(!!r.errors)
  if (r.errors && !isOpen) setOpen(true)
  const wrong = [...new Set((r.errors ?? []).map((e) => (e.field ?? '').replace(/[[.].*/, '')))].filter(
    (c) => columns.includes(c) && c !== 'content' && c !== 'scheduled_time',
  )
  const field = (column: string) => (
    <Textarea
      key={`${column} ${cells[column] ?? ''}`}
      size="xs"
      autosize
      maxRows={6}
      miw={150}
      aria-label={t('import.cell', { column, row: line })}
      defaultValue={cells[column] ?? ''}
      error={r.errors?.some((e) => (e.field ?? '').startsWith(column)) || undefined}
      onBlur={(e) =>
        e.currentTarget.value !== (cells[column] ?? '') && mend({ ...cells, [column]: e.currentTarget.value })
      }
    />
  )
  const formatted = (time: string) => formatWall(`${time}:00`.slice(0, 19), i18n.language)
  return (
    <Table.Tr data-row={line} data-valid={!r.errors}>
      <Table.Td className="dl-numbers">{line}</Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        {isOpen && columns.includes('scheduled_time')
          ? field('scheduled_time')
          : cells.scheduled_time || cells.when || '–'}
      </Table.Td>
      <Table.Td maw={420}>
        {isOpen ? (
          <Stack gap={4}>
            {columns.includes('content') && field('content')}
            {wrong.map(field)}
          </Stack>
        ) : (
          <Text size="sm" lineClamp={3} className="dl-text">
            {cells.content || t('post.noText')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {r.errors ? (
          <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {ambiguous && (
              <Text size="sm" c="var(--mantine-color-error)" component="li" data-ambiguous>
                {t('import.ambiguous', {
                  time: cells.scheduled_time,
                  one: formatted(ambiguous[0]),
                  other: formatted(ambiguous[1]),
                  write: ambiguous[0].replace('T', ' '),
                })}
              </Text>
            )}
            {r.errors
              .filter((e) => !(ambiguous && e.field === 'scheduled_time'))
              .map((e, i) => (
                <Text key={i} size="sm" c="var(--mantine-color-error)" component="li">
                  {e.field && columns.includes(e.field.replace(/[[.].*/, '')) ? (
                    <strong>{e.field}: </strong>
                  ) : e.field ? (
                    `${e.field}: `
                  ) : (
                    ''
                  )}
                  {problemText(e)}
                </Text>
              ))}
          </Stack>
        ) : (
          <Group gap={4}>
            <Badge variant="light" color="green" tt="none" leftSection={<IconCheck size={14} aria-hidden />}>
              {t('import.fine')}
            </Badge>
            {r.warnings?.map((w, i) => (
              <Text key={i} size="sm" c="dimmed">
                {warningText(w)}
              </Text>
            ))}
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

const sample =
  'content,scheduled_time,time_zone\n"Good morning",2030-01-07T07:30,Asia/Ho_Chi_Minh\n"Bản tin tối",2030-01-07T18:00,Asia/Ho_Chi_Minh\n'

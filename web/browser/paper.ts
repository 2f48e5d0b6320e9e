import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { sample } from './harness'

export interface Story {
  path: string
  title: string
  lead: string
  author: string
  section: string
  text: string[]
  image?: string
}

const story = (
  path: string,
  section: string,
  author: string,
  title: string,
  lead: string,
  ...text: string[]
): Story => ({ path: `/2026/11/${path}.html`, section, author, title, lead, text })

/** A newspaper in Vietnamese; stories can be added while it runs. */
export class Paper {
  address = ''
  readonly stories: Story[] = [
    story(
      'gia-vang-lap-ky-luc',
      'Kinh tế',
      'Mai Lan',
      'Giá vàng lập kỷ lục mới',
      'Giá vàng miếng sáng nay vượt mọi mức từng có.',
      'Giá vàng miếng sáng nay được các cửa hàng niêm yết cao hơn hôm qua gần một triệu đồng mỗi lượng, mức cao nhất từ trước đến nay.',
      'Theo các chuyên gia, nhu cầu trú ẩn của nhà đầu tư tăng mạnh khi lãi suất giảm và đồng đô la yếu đi trên thị trường quốc tế.',
      'Nhiều người dân xếp hàng từ sớm để mua vàng, trong khi một số khác mang vàng đi bán để chốt lời sau nhiều tháng chờ đợi.',
    ),
    story(
      'nuoc-song-dang-cao',
      'Thời sự',
      'Trần Hoà',
      'Nước sông dâng cao sau mưa lớn',
      'Hàng trăm hộ dân ven sông được di dời trong đêm.',
      'Mưa lớn kéo dài hai ngày khiến nước sông dâng nhanh, vượt mức báo động ba tại nhiều trạm đo ở hạ lưu vào rạng sáng.',
      'Chính quyền xã đã huy động dân quân giúp các hộ ven bờ chuyển đồ đạc và gia súc lên vùng cao trước khi trời tối.',
      'Các trường học trong vùng cho học sinh nghỉ một ngày, giao thông qua cầu tạm bị cấm cho đến khi nước rút hẳn.',
    ),
    story(
      'doi-tuyen-thang-tran',
      'Thể thao',
      'Mai Lan',
      'Đội tuyển thắng trận mở màn',
      'Hai bàn trong hiệp hai mang về ba điểm.',
      'Đội tuyển bước vào trận mở màn với đội hình trẻ và chơi thận trọng trong suốt hiệp một trước đối thủ mạnh hơn về thể lực.',
      'Sau giờ nghỉ, huấn luyện viên thay hai tiền vệ, thế trận thay đổi hẳn và bàn thắng đến chỉ sau mười phút thi đấu.',
      'Khán giả trên sân hát vang cho đến phút cuối cùng, khi cú sút xa ấn định tỷ số của trận đấu.',
    ),
    story(
      'thu-vien-moi-mo-cua',
      'Văn hoá',
      'Lê Vy',
      'Thư viện mới mở cửa đón bạn đọc',
      'Toà nhà cũ bên hồ trở thành nơi đọc sách.',
      'Toà nhà hơn trăm tuổi bên hồ vừa được sửa lại thành thư viện với ba tầng sách và một phòng đọc dành riêng cho trẻ em.',
      'Kiến trúc sư giữ nguyên cầu thang gỗ và những ô cửa kính màu, chỉ thêm ánh sáng dịu để mắt không mỏi khi đọc lâu.',
      'Ngày đầu mở cửa, hơn một nghìn người ghé thăm, nhiều gia đình ở lại cho đến khi thư viện đóng cửa.',
    ),
  ]
  private readonly paths: string[] = []
  private server: Server | undefined

  /** host: a name or address of this machine, because a crawled domain has no port. */
  async listen(host = '127.0.0.1'): Promise<void> {
    const server = createServer((request, answer) => this.answer(request.url ?? '', answer))
    this.server = server
    await new Promise<void>((done) => server.listen(0, host, done))
    const address = server.address()
    this.address = `http://${host}:${typeof address === 'object' && address ? address.port : 0}/`
  }

  private answer(path: string, answer: ServerResponse): void {
    this.paths.push(path)
    const page = (body: string, head = '') =>
      answer
        .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
        .end(`<!doctype html><html lang="vi"><head>${head}</head><body>${body}</body></html>`)
    const one = this.stories.find((s) => s.path === path)
    if (path === '/')
      page(
        this.stories.map((s) => `<p><a href="${s.path}">${s.title}: ${s.lead}</a></p>`).join(''),
        '<title>Báo Mai</title>',
      )
    else if (path === '/anh.png') answer.writeHead(200, { 'Content-Type': 'image/png' }).end(readFileSync(sample()))
    else if (one) {
      const published = new Date(Date.now() - 3_600_000).toISOString()
      page(
        `<article><h1>${one.title}</h1><b class="who">${one.author}</b><p class="lead">${one.lead}</p><figure><img src="/anh.png" alt="Ảnh của ${one.title}"></figure>${one.text.map((p) => `<p>${p}</p>`).join('')}</article>`,
        `<title>${one.title} - Báo Mai</title><meta property="og:type" content="article"><meta property="og:title" content="${one.title}"><meta property="og:site_name" content="Báo Mai">
        <meta property="og:image" content="${this.address}${one.image ?? 'anh.png'}"><meta name="description" content="${one.lead}"><meta property="og:description" content="${one.lead}"><meta name="author" content="${one.author}">
        <meta property="article:section" content="${one.section}"><meta property="article:published_time" content="${published}">`,
      )
    } else answer.writeHead(404).end()
  }

  add(...of: Parameters<typeof story>): void {
    this.stories.unshift(story(...of))
  }

  asked = () => this.paths

  close(): void {
    this.server?.closeAllConnections()
    this.server?.close()
  }
}

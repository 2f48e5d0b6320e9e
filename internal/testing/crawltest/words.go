package crawltest

import (
	"math/rand/v2"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func sectionNames() []string {
	return []string{"thoi-su", "the-gioi", "kinh-doanh", "giai-tri", "the-thao", "phap-luat", "giao-duc", "suc-khoe"}
}

func authors() []string {
	return []string{"Nguyễn Văn An", "Trần Thị Bình", "Lê Hoàng Cường", "Phạm Thu Dung", "Võ Minh Đức", "Đỗ Khánh Hà"}
}

func words() []string {
	return strings.Fields(
		`người dân thành phố chính quyền dự án đường sắt khởi công sáng nay nhiều tỉnh miền trung mưa lớn
		ngập lụt học sinh nghỉ học giá vàng tăng mạnh thị trường chứng khoán doanh nghiệp đầu tư nước ngoài công nghệ trí tuệ
		bóng đá đội tuyển chiến thắng chung kết bệnh viện bác sĩ phẫu thuật thành công giao thông cầu vượt hoàn thành tháng
		quốc hội thông qua luật đất đai sửa đổi ngân hàng lãi suất tiền gửi nông dân lúa gạo xuất khẩu kỷ lục biển đảo du lịch
		khách quốc tế sân bay mới hàng không mùa hè nắng nóng điện lực tiết kiệm nhà máy sản xuất ô tô xe điện pin mặt trời`)
}

// sentence generates a sentence without a full stop.
func sentence(rng *rand.Rand, vocabulary []string, count int) string {
	words := make([]string, count)
	for i := range words {
		words[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	text := []rune(strings.Join(words, " "))
	text[0] = unicode.ToUpper(text[0])
	return string(text)
}

// body generates paragraphs of about sixty words.
func body(rng *rand.Rand, vocabulary []string, count int) string {
	var paragraphs []string
	for count > 0 {
		var sentences []string
		for range 4 {
			n := 10 + rng.IntN(10)
			sentences = append(sentences, sentence(rng, vocabulary, n)+".")
			count -= n
		}
		paragraphs = append(paragraphs, strings.Join(sentences, " "))
	}
	return strings.Join(paragraphs, "\n\n")
}

// slug converts a title to a URL slug, as Vietnamese sites do.
func slug(title string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(title)) {
		switch {
		case r == 'đ':
			b.WriteByte('d')
		case r == ' ':
			b.WriteByte('-')
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		}
	}
	return b.String()
}

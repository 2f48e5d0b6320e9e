// Package sites builds sites with real publishing systems from invented articles, crawls them
// with the real crawler, and counts field by field what was extracted.
package sites

import (
	"fmt"
	"strings"
	"time"
)

// sample is an invented article.
type sample struct {
	slug, title string
	authors     []string
	section     string
	tags        []string
	published   time.Time
	updated     time.Time
	paragraphs  []string
	table       [][]string
	heading     string // before the table
	language    string
}

// samples returns the articles of every site: in Vietnamese and English, with short and long
// titles, one or two authors, and a table each.
func samples() []sample {
	zone := time.FixedZone("+07", 7*60*60)
	at := func(day, hour, minute int) time.Time {
		return time.Date(2026, time.March, day, hour, minute, 0, 0, zone)
	}
	all := []sample{
		{
			slug: "night-ferry-returns", title: "Night ferry returns to Halden Sound", authors: []string{
				"Maren Oakley",
			},
			section: "Travel", tags: []string{"ferries", "coast"},
			published: at(5, 6, 50), updated: at(6, 21, 10), heading: "Sailings next week",
			table: [][]string{
				{"Sailing", "Cars", "Foot passengers"},
				{"Thursday", "31", "64"},
				{"Friday", "44", "120"},
				{"Saturday", "52", "188"},
			},
		},
		{
			slug: "moss-that-counts-rain", title: "The moss that counts the rain",
			authors: []string{"Idris Calloway", "Petra Moore"}, section: "Science", tags: []string{"moss", "weather"},
			published: at(7, 9, 15), heading: "What the gauges saw",
			table: [][]string{
				{"Station", "Rain", "Moss"},
				{"Upper weir", "12 mm", "11 mm"},
				{"Old quarry", "31 mm", "29 mm"},
				{"Harbor", "8 mm", "9 mm"},
			},
		},
		{
			slug: "a-library-that-lends-out-its-tools", title: "A library that lends out its tools",
			authors: []string{"Petra Moore"}, section: "Community", tags: []string{"repair"},
			published: at(9, 14, 5), updated: at(12, 8, 30), heading: "Most borrowed",
			table: [][]string{
				{"Tool", "Loans", "Days"},
				{"Pressure washer", "88", "3"},
				{"Tile cutter", "47", "4"},
				{"Apple press", "39", "2"},
			},
		},
		{
			slug: "why-the-old-mill-turns-again", title: "Why the old mill turns again after forty years",
			authors: []string{"Idris Calloway"}, section: "Community", tags: []string{"heritage", "repair"},
			published: at(11, 17, 40), heading: "A year of repairs",
			table: [][]string{
				{"Month", "Hours", "Volunteers"},
				{"May", "140", "12"},
				{"July", "212", "19"},
				{"September", "96", "9"},
			},
		},
		{
			slug: "tram-bom-tu-dong-o-ba-tri", title: "Trạm bơm tự động ở Ba Tri giữ nước cho ba xã",
			authors: []string{"Nguyễn Văn Mẫu"}, section: "Khoa học", tags: []string{"nước ngọt", "Bến Tre"},
			published: at(6, 7, 20), updated: at(7, 10, 0), heading: "Mực nước theo tuần", language: "vi",
			table: [][]string{
				{"Tuần", "Giờ bơm", "Mực nước"},
				{"Tuần một", "118", "04:30"},
				{"Tuần hai", "97", "06:20"},
				{"Tuần ba", "134", "05:10"},
			},
		},
		{
			slug: "lop-hoc-ve-dem-cua-nguoi-tho", title: "Lớp học về đêm của những người thợ",
			authors: []string{"Trần Thị Ví Dụ", "Lê Minh Họa"}, section: "Giáo dục", tags: []string{"học nghề"},
			published: at(8, 20, 45), heading: "Số học viên", language: "vi",
			table: [][]string{
				{"Lớp", "Học viên", "Buổi"},
				{"Hàn", "24", "36"},
				{"Điện", "31", "40"},
				{"May", "18", "28"},
			},
		},
		{
			slug: "cho-noi-vang-dan", title: "Chợ nổi vắng dần", authors: []string{"Lê Minh Họa"}, section: "Văn hóa",
			tags:      []string{"chợ nổi", "đời sống"},
			published: at(10, 5, 30), updated: at(10, 19, 55), heading: "Số ghe mỗi sáng", language: "vi",
			table: [][]string{
				{"Năm", "Ghe", "Khách"},
				{"2016", "310", "840"},
				{"2021", "165", "410"},
				{"2026", "92", "260"},
			},
		},
		{
			slug: "nguoi-giu-tieng-dan-bau", title: "Người giữ tiếng đàn bầu trong ngõ nhỏ phố cổ",
			authors: []string{"Nguyễn Văn Mẫu", "Trần Thị Ví Dụ"}, section: "Văn hóa", tags: []string{
				"đàn bầu", "phố cổ",
			},
			published: at(13, 11, 25), heading: "Lịch biểu diễn", language: "vi",
			table: [][]string{
				{"Buổi", "Bài", "Người đàn"},
				{"Thứ năm", "Dạ cổ", "Bà Sáu"},
				{"Thứ bảy", "Trống cơm", "Ông Tư"},
				{"Chủ nhật", "Lý ngựa ô", "Cô Mai"},
			},
		},
	}
	for i := range all {
		a := &all[i]
		sentences := english()
		if a.language == "" {
			a.language = "en"
		} else {
			sentences = vietnamese()
		}
		for n := range 6 {
			place := sentences[(i*3+n)%len(sentences)]
			a.paragraphs = append(a.paragraphs, fmt.Sprintf(place, a.title, a.table[1+n%3][0]))
		}
	}
	return all
}

func english() []string {
	return []string{
		"People who followed the story of %[1]q for years say that nothing about it was planned. What they remember " +
			"is a cold morning, a few phone calls, and a list on the kitchen table that began with %[2]s.",
		"The council had set aside a small amount of money, enough for timber and paint but not for wages. " +
			"Everything else, from %[2]s to the last bolt, came from neighbors who gave what they had.",
		"On the second day it rained, and the work moved under the roof of the old depot. There the numbers for " +
			"%[2]s were checked twice, because the first count seemed too good to be true.",
		"Not everybody agrees that the effort was worth it. Two residents wrote to the paper and asked why %[2]s " +
			"should come before the road, which has been waiting for repairs since the flood.",
		"The engineers answer that the two have little to do with each other. Their report, which runs to ninety " +
			"pages, explains how %[2]s was measured and which mistakes were made in the past.",
		"By evening the square was full. Somebody had brought a radio, somebody else a tray of buns, and the talk " +
			"turned from %[2]s to the summer, when visitors will arrive again by the hundreds.",
		"Next month the group will meet again to decide how to go forward. Until then the results remain open to " +
			"everybody at the town hall, where %[2]s hangs on the wall beside the timetable.",
	}
}

func vietnamese() []string {
	return []string{
		"Những người theo dõi câu chuyện “%[1]s” từ đầu kể rằng không ai tính trước điều gì. Họ chỉ nhớ một buổi " +
			"sáng se lạnh, vài cuộc điện thoại và tờ giấy ghi dòng đầu tiên là %[2]s.",
		"Xã dành ra một khoản nhỏ, đủ mua gỗ và sơn nhưng không đủ trả công. Mọi thứ còn lại, từ %[2]s đến con ốc " +
			"cuối cùng, đều do bà con trong xóm góp vào.",
		"Sang ngày thứ hai trời đổ mưa, mọi người dời việc vào dưới mái kho cũ. Ở đó số liệu của %[2]s được kiểm lại " +
			"hai lần vì lần đếm đầu tốt đến mức khó tin.",
		"Không phải ai cũng cho rằng công sức ấy là xứng đáng. Hai người dân gửi thư hỏi vì sao %[2]s lại được làm " +
			"trước con đường đã chờ sửa từ mùa lũ năm kia.",
		"Các kỹ sư trả lời rằng hai việc không liên quan nhiều đến nhau. Bản báo cáo dài chín mươi trang giải thích " +
			"cách đo %[2]s và những sai sót của các lần trước.",
		"Đến chiều, sân đình chật kín người. Có người mang theo chiếc đài nhỏ, người khác bưng rổ bánh, câu chuyện " +
			"chuyển từ %[2]s sang mùa hè sắp tới khi khách lại về đông.",
		"Tháng sau cả nhóm sẽ họp lại để bàn bước tiếp theo. Từ nay đến đó, kết quả được dán công khai ở nhà văn " +
			"hóa, nơi %[2]s nằm ngay cạnh bảng giờ tàu.",
	}
}

// markdown returns the text of an article, with its table after the third paragraph.
func (a sample) markdown() string {
	var b strings.Builder
	for i, p := range a.paragraphs {
		b.WriteString(p + "\n\n")
		if i != 2 {
			continue
		}
		b.WriteString("## " + a.heading + "\n\n")
		for r, row := range a.table {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
			if r == 0 {
				b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// text is what readers see of the article, without its title.
func (a sample) text() string {
	var parts []string
	for i, p := range a.paragraphs {
		parts = append(parts, p)
		if i != 2 {
			continue
		}
		parts = append(parts, a.heading)
		for _, row := range a.table {
			parts = append(parts, strings.Join(row, " "))
		}
	}
	return strings.Join(parts, "\n")
}

package hardset

import (
	"math/rand/v2"
	"strings"

	"gleaner/internal/each"
)

// culture is a pool of given names and surnames that go together.
type culture struct {
	given    []string
	surnames []string
	middle   float64 // share of people with a middle initial
	double   bool    // two surnames
	tld      string  // ending of its universities
	lang     string
}

var cultures = []culture{
	{split("Robert William James Margaret Elizabeth Katherine Thomas Michael Alexander Daniel Susan Christopher Edward Joseph Nicholas Abigail Samuel Patricia Andrew Deborah Richard Steven Gregory Matthew"), split("Smith Brown Taylor Harrison Whitfield Osborne Mercer Caldwell O'Brien MacLeod Thornton Ashworth Blackwood Fielding Hargreaves Lockhart Pemberton Ridley Sinclair Underhill Vance Wainwright Yardley Kingsley"), 0.4, false, "edu.example", "en"},
	{split("Jürgen Jörg Ulrike Käthe Wolfgang Günther Birgit Andreas Stefan Matthias Annette Rüdiger Dieter Monika Johannes Sören"), split("Müller Schröder Weiß Köhler Böhm Schäfer Krüger Vogel Brandt Dietrich Hölzl Lindemann Pfeiffer Steinmetz Zimmermann Jäger"), 0.1, false, "uni.example", "de"},
	{split("François Jean-Luc Hélène Marie-Claude Étienne Benoît Céline Jérôme Sylvie Thierry Anne-Sophie Gaël"), split("Lefèvre Dubois Moreau Gauthier Chevalier Delacroix Rousseau Péron Beauchamp Langlois Marchand Tessier"), 0.05, false, "fr.example", "fr"},
	{split("José María Ángel Lucía Joaquín Inés Ramón Begoña Andrés Martín Sofía Álvaro"), split("García Fernández Núñez Ibáñez Muñoz Castaño Ordóñez Quintana Velasco Zamora Peña Salazar"), 0.05, true, "es.example", "es"},
	{split("Wei Xiaoming Jing Lei Yan Xiao-Ling Jun Hao Ming Yu Zhi-Hua Bin Qiang Fang Li Na"), split("Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Zhu Guo Lin Xie"), 0, false, "cn.example", "en"},
	{split("Min-Jun Soo-Young Ji-Hoon Hyun-Woo Eun-Kyung Sang-Ho Dong-Hyun Yoon-Ah"), split("Kim Lee Park Choi Jung Kang Yoon Lim Han Shin"), 0, false, "kr.example", "en"},
	{split("Piyali Rajesh Sanjay Lakshmi Venkatesh Anand Meena Suresh Krishnan Nandini Arvind Kavita"), split("Krishnamurthy Subramanian Banerjee Mukherjee Iyer Rao Gupta Deshpande Narayanan Chakraborty Venkataraman Bhattacharya"), 0.3, false, "in.example", "en"},
	{split("Sergey Dmitry Yevgeny Aleksandr Tatyana Yuri Natalya Mikhail Oleksandr Irina Andrey Lyudmila"), split("Ivanov Khrushchov Zhukovsky Tsvetkov Shcherbakov Yakovlev Kovalchuk Chernyshev Vasilyev Zhdanov Fyodorov Gavrilyuk"), 0.2, false, "ru.example", "en"},
	{split("Jiří Tomáš Zdeněk Kateřina Łukasz Wojciech Agnieszka Stanisław Přemysl Božena"), split("Dvořák Novotný Kučera Wiśniewski Kowalczyk Zieliński Procházka Růžička Błaszczyk Šimůnek"), 0, false, "cz.example", "en"},
	{split("Bjørn Åsa Søren Kåre Jörgen Øystein Päivi Mikko Håkan Ingrid"), split("Sørensen Ødegård Lindström Åkesson Nyström Hämäläinen Mäkelä Kjærgaard Bergström Lindqvist"), 0, false, "no.example", "en"},
	{split("Willem Cornelis Johannes Hendrik Marijke Pieter Sjoerd Anneke"), split("van_den_Berg de_Vries van_der_Meer Jansen ter_Horst van_Dijk Hoekstra de_Groot Visser van_Leeuwen"), 0.1, false, "nl.example", "nl"},
	{split("Özgür Çağlar Ayşe Gülşen Işıl Mehmet Şebnem Yiğit"), split("Yılmaz Öztürk Çelik Şahin Güneş Kılıç Aydın Doğan"), 0, false, "tr.example", "en"},
	{split("Mohammed Hussein Khalid Youssef Fatima Ahmad Layla Omar"), split("al-Rashid Haddad Khalil Mansour el-Sayed Nasser Qureshi Farouk"), 0.1, false, "eg.example", "en"},
	{split("João Conceição Antônio Luís Patrícia Tiago Inês Simão"), split("Gonçalves Magalhães Simões Guimarães Araújo Falcão Conceição Teixeira"), 0.05, true, "pt.example", "pt"},
	{split("Thanh Hùng Quốc Linh Minh Đức Phương Tuấn"), split("Nguyễn Trần Phạm Hoàng Đặng Bùi Đỗ Vũ"), 0.4, false, "vn.example", "en"},
	{split("Giuseppe Niccolò Francesca Vincenzo Alessandro Chiara Matteo Paola"), split("Rossi Esposito Bianchi Ferrara Colombo Marchetti D'Angelo Barbieri"), 0, false, "it.example", "it"},
}

func split(s string) []string {
	out := strings.Fields(s)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "_", " ")
	}
	return out
}

// nickname and romanised are other ways to write a given name.
var nickname = map[string]string{
	"Robert": "Bob", "William": "Bill", "James": "Jim", "Margaret": "Peggy", "Elizabeth": "Liz", "Katherine": "Kate", "Thomas": "Tom", "Michael": "Mike",
	"Alexander": "Alex", "Daniel": "Dan", "Susan": "Sue", "Christopher": "Chris", "Edward": "Ted", "Joseph": "Joe", "Nicholas": "Nick", "Abigail": "Abby",
	"Samuel": "Sam", "Patricia": "Pat", "Andrew": "Andy", "Deborah": "Debbie", "Richard": "Dick", "Steven": "Steve", "Gregory": "Greg", "Matthew": "Matt",
	"Johannes": "Hans", "Willem": "Wim", "Cornelis": "Kees", "Hendrik": "Henk", "José": "Pepe",
}

var romanised = strings.NewReplacer(
	"Sergey", "Sergei", "Dmitry", "Dmitri", "Yevgeny", "Evgeny", "Aleksandr", "Alexandr", "Tatyana", "Tatiana", "Yuri", "Iouri", "Natalya", "Natalia", "Andrey", "Andrei",
	"Zhukovsky", "Zhukovskii", "Tsvetkov", "Tzvetkov", "Yakovlev", "Iakovlev", "Vasilyev", "Vasiliev", "Khalid", "Halid", "Mohammed", "Muhammad", "Hussein", "Husain",
	"Qureshi", "Kureshi", "ü", "ue", "ö", "oe", "ä", "ae", "ß", "ss", "ø", "oe", "å", "aa", "Soo-Young", "Soo Young", "Min-Jun", "Minjun", "Ji-Hoon", "Jihoon", "Xiao-Ling", "Xiaoling", "Zhi-Hua", "Zhihua",
)

// pick draws one of the pool.
func pick[T any](r *rand.Rand, pool []T) T { return pool[r.IntN(len(pool))] }

// some draws a subset of about share of the pool, at least four, in its order.
func some[T any](r *rand.Rand, pool []T, share float64) []T {
	out := each.Where(pool, func(x T) bool { return r.Float64() < share })
	if len(out) < min(4, len(pool)) {
		return append([]T(nil), pool...)
	}
	return out
}

// chance is true with probability p.
func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

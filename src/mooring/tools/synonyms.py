"""The words of the field: which mean the same, and what they are called in other languages.

Plain tables. A line of `ACTIONS` or `THINGS` is one meaning; an underscore joins the words of a phrase. A line of
`FOREIGN` gives the English words for those of another language.
"""

ACTIONS = """
create make new add insert generate open build start begin compose write register draft set_up file book schedule
delete remove drop erase destroy wipe discard clear purge trash uninstall clean throw_away get_rid kill take_off
forget unlearn delete
update edit change modify patch set alter adjust rewrite correct revise amend mark resize manage
list show enumerate display all overview which browse what
get read fetch retrieve view look see load show describe inspect tell what check obtain extract
search find query lookup look_up seek locate discover grep filter hunt
send post publish deliver write message tell notify announce share reply
forward pass relay redirect pass_on
move transfer relocate shift rename transition drag put
copy duplicate clone replicate fork
run execute start launch trigger invoke perform call
stop cancel terminate end abort halt close quit kill
upload attach import push
download export save fetch pull
merge combine join unite fuse
close resolve finish complete done
install deploy set_up
approve accept confirm sign_off
assign delegate hand_over give hand responsible
convert transform translate turn_into
restore recover revert undo rollback roll_back reset go_back
connect link attach associate relate
count how_many number total
compare diff difference changed
archive store_away shelve
subscribe watch monitor follow observe keep_an_eye keep_me_posted let_me_know
sort order arrange rank
replace substitute swap exchange
validate verify check lint test prove correct valid
restrict allow limit permit constrain validation only
wait pause sleep until
highlight mark emphasize stress
recommend suggest advise propose
upgrade bump newer
scale resize grow shrink replica bigger smaller more
sync synchronize mirror match up_to_date
login sign_in log_in authenticate auth authorize token
play listen hear
append add_to extend continue
aggregate group_by sum average total statistic
isolate separate split extract clean
reserve allocate book borrow
optimize improve tune better
explain why plan how describe
"""

THINGS = """
pull_request merge_request pr mr
repository repo project codebase
git github gitlab version_control
issue ticket bug defect task problem story bug_report tracker jira linear
comment note remark discussion reply annotation
commit changeset revision
branch main_line trunk line_of_development
blame who_wrote author_of
review feedback reviewer
pipeline build ci workflow job
fail failure error crash exception broken wrong
log record journal trace
release version tag
deployment deploy rollout live netlify hosting publish
container pod docker
cluster kubernetes kubectl k8s node
shell terminal exec command console
file document doc
directory folder dir inside
path location
contents content text body
database db sql postgres mongodb clickhouse
table relation sheet
row record entry line
column field property attribute
schema structure column shape
key entry
expire ttl lifetime timeout
index indices lookup fast faster
document record object
graph network relation
entity thing person node
observation fact remember memory
message chat text dm slack discord telegram
channel room conversation slack discord
thread conversation discussion answer reply
emoji reaction thumbs_up smiley
user member person people colleague account somebody someone who role
team group organization organisation workspace staff
email mail e_mail inbox mailbox
attachment enclosure
calendar agenda schedule appointment
event meeting appointment
free busy available availability freebusy
holiday vacation out_of_office leave away
permission access right share restriction
password protect lock secure encrypt
page site website webpage web url web_address homepage
web internet online
screenshot capture picture snapshot photo image snap
image picture photo figure drawing icon illustration
video film movie clip youtube
screencast screen_recording record_the_screen record_video film
audio sound noise
speech voice aloud spoken talk speak read_aloud out_loud
transcribe transcript speech_to_text dictation subtitle caption
music song tune
click press tap push button finger touch hold
type enter fill input
dropdown select option choose pick menu
form field
browser chrome tab playwright
console javascript devtools print output stdout
performance speed slow fast faster load_time latency
network request traffic talk_to http
mobile phone handset smartphone device android iphone ios tablet
app application
orientation sideways rotate landscape portrait
gps location coordinate position latitude city town country
place restaurant shop cafe hotel local nearby near close_to venue opening_hours
direction route way drive navigate how_long journey trip travel
distance far
address geocode coordinate
elevation altitude height high
time clock hour date
timezone time_zone
worklog hour time_spent timesheet
sprint iteration
epic initiative
status state condition
board kanban
card ticket
checklist todo to_do tick tick_off
label tag category
topic subject theme
sla response_time in_time deadline
alert alarm warning incident page
silence mute quiet suppress maintenance
oncall on_call pager duty
metric measurement prometheus statistic
dashboard panel board
chart graph plot diagram
spreadsheet excel workbook sheet worksheet airtable
cell range
formula calculation
conditional threshold colour color
presentation powerpoint slide deck ppt
word docx document doc
pdf acrobat
footnote endnote
paragraph passage
heading header title
style format formatting bold italic underline colour color
note page
wiki confluence wikipedia encyclopedia article notion
article paper publication study work preprint arxiv
citation cite reference bibliography build_on based_on
summary summarize abstract gist overview
news headline
research investigate dig in_depth thorough deep report
crawl spider
scrape extract
documentation docs manual guide reference
library package framework dependency
feature_flag toggle switch
environment env variable production staging
mock fake stub simulate pretend emulate imitate
collection set
light lamp
turn_on turn_off switch toggle control
smart_home home_assistant home door room bedroom kitchen living_room house sensor temperature warm thermostat heating
automation rule
backup dump
contact customer lead company deal crm
payment invoice charge
weather forecast
cost price billing usage credit
design figma mockup
think reason thought thinking
step sequential
view visit seen looked
history past previous log timeline over_time
difference change diff
root_cause why reason analyze cause
config configuration setting option preference settings
data information info detail metadata fact
item entry element thing
spec specification openapi swagger definition contract
type kind sort_of class
api rest endpoint postman
template blueprint boilerplate layout
section chapter part
screen display
agent bot assistant
script code program macro vba
flaky unreliable unstable intermittent random sometimes
webhook callback hook
child nested sub below under
milestone goal deadline target
recent latest newest last current now
outline contents chapter structure overview toc
tree hierarchy structure nested
plugin extension addon add_on
watcher follower
dialog popup prompt confirm
hover mouse_over point
audit log history who_did
csv comma_separated
sparkline tiny_chart trend
pivot cross_tab summarize group_by
activity action recent happen lately going_on
port tunnel forward local
clipboard paste copied
swipe scroll flick
storage space disk size
vault notebook journal diary obsidian
periodic daily weekly monthly week month day
response answer
font typeface letter bold
hyperlink link url web_address web_link
public everyone anyone open
stage staged index
conflict clash
sum add plus addition
outbound phone telephone dial ring call
recipient receiver to_whom
health alive ping running up reachable
dependency blocker blocked block
assignee owner responsible assign
engagement interaction activity
variation variant
targeting audience rollout percent percentage
vector embedding similarity semantic similar
hash map dictionary
queue list stack
publish broadcast announce
trace span distributed
heap memory leak
css style look appearance
keyboard key shortcut press
member assignee belong
backlog later someday
unstaged uncommitted modified working_tree not_staged not_yet
checkout switch
staged commit ready
resource cpu quota machine size
related similar like connected
fulltext full_text whole entire
attachment file enclosure
bullet point list
shape box circle arrow
transition animation effect
sound_effect noise sound effect
voice speaker narrator
conversation call dialogue talk caller
artifact output result binary
"""

FOREIGN = {
    "german": """
erstellen create; anlegen create; neu new; neue new; hinzufügen add; einfügen insert add; löschen delete
entfernen remove; ändern update; bearbeiten edit; aktualisieren update; umbenennen rename; anzeigen show list
zeige show list; auflisten list; alle all; lesen read; lies read; holen get; abrufen get; suchen search; finden find
abfragen query; abfrage query; senden send; schicken send; schreiben write; verschieben move; kopieren copy
ausführen run; starten start; stoppen stop; abbrechen cancel; beenden stop; hochladen upload; herunterladen download
zusammenführen merge; schließen close; öffnen open; installieren install; deinstallieren uninstall
genehmigen approve; zuweisen assign; umwandeln convert; wiederherstellen restore; verbinden connect; zählen count
vergleichen compare; archivieren archive; speichern save; exportieren export; sortieren sort; drücken press
klicken click; tippen type; ausfüllen fill; ausschalten turn_off; einschalten turn_on; übersetzen translate
zusammenfassen summarize; abonnieren subscribe; beobachten watch; antworten reply; vorlesen speech; laut aloud
sprache speech; stimme voice; ton sound; musik music; datei file; dateien file; ordner directory
verzeichnis directory; inhalt content; text text; nachricht message; kanal channel; gruppe group; benutzer user
nutzer user; mitglied member; konto account; post email; anhang attachment; kalender calendar; termin event
besprechung meeting; uhrzeit time; zeit time; spät time; uhr time; zeitzone timezone; datenbank database
tabelle table; zeile row; spalte column; feld field; schlüssel key; eintrag record; sammlung collection; zelle cell
webseite page web; seite page; bildschirmfoto screenshot; bildschirm screen; bild image; foto photo; netz web
browser browser; fehler error; aufgabe task issue; kommentar comment; zweig branch; änderung change; verlauf history
protokoll log; projekt project; dokument document; fußnote footnote; überschrift heading; absatz paragraph
folie slide; präsentation presentation; diagramm chart; karte card map; liste list; brett board; weg direction
route direction; entfernung distance; adresse address; ort place; höhe elevation; licht light; wohnzimmer home
haus home; handy mobile; telefon phone; gerät device; anwendung app; zusammenfassung summary; artikel article
aufsatz paper; nachrichten news; wetter weather; alarm alert; sicherung backup; freigeben share
berechtigung permission; status status; offen open; aktuell current; jetzt current; heute today; geschlossen closed
verzögerung latency; vorlage template; notiz note; umgebung environment
""",
    "spanish": """
crear create; nuevo new; agregar add; añadir add; insertar insert; eliminar delete; borrar delete; quitar remove
actualizar update; editar edit; cambiar change; modificar modify; renombrar rename; mostrar show list; listar list
ver show get; leer read; obtener get; todos all; buscar search; encontrar find; consultar query; consulta query
enviar send; publicar post; escribir write; mover move; copiar copy; ejecutar run; iniciar start; detener stop
cancelar cancel; subir upload; cargar upload; descargar download; fusionar merge; combinar merge; cerrar close
abrir open; instalar install; desinstalar uninstall; aprobar approve; asignar assign; convertir convert
restaurar restore; contar count; comparar compare; archivar archive; guardar save; exportar export; ordenar sort
pulsar press; apagar turn_off; encender turn_on; traducir translate; resumir summarize; resumen summary
responder reply; voz voice speech; audio audio; sonido sound; música music; archivo file; fichero file
carpeta directory; directorio directory; contenido content; texto text; mensaje message; canal channel; usuario user
miembro member; equipo team; cuenta account; correo email; electrónico email; adjunto attachment
calendario calendar; evento event; reunión meeting; cita event; hora time; tiempo time weather; zona timezone
base database; datos database; tabla table; fila row; columna column; campo field; clave key; registro log record
colección collection; celda cell; página page; sitio site; web web; captura screenshot; pantalla screen screenshot
imagen image; foto photo; navegador browser; error error; incidencia issue; tarea task issue; problema issue
comentario comment; rama branch; cambio change; historial history; proyecto project; repositorio repository
documento document; diapositiva slide; presentación presentation; gráfico chart; tarjeta card; lista list
tablero board; llegar direction; ruta direction; camino direction; distancia distance; dirección address direction
lugar place; altura elevation; luz light; casa home; teléfono phone; móvil mobile; aplicación app
artículo article paper; noticias news; alerta alert; copia copy; seguridad backup; permiso permission
compartir share; nota note; plantilla template; hoja sheet; actual current; hoy today; solicitud request
extracción pull; bandera flag; etiqueta label
""",
    "french": """
créer create; nouveau new; nouvelle new; ajouter add; insérer insert; supprimer delete; effacer delete
enlever remove; retirer remove; mettre update; modifier edit; changer change; renommer rename; afficher show list
montrer show list; lister list; voir show get; lire read; obtenir get; tous all; chercher search; rechercher search
trouver find; interroger query; requête query; envoyer send; publier post; écrire write; déplacer move; copier copy
exécuter run; lancer start; démarrer start; arrêter stop; annuler cancel; téléverser upload; télécharger download
fusionner merge; fermer close; ouvrir open; installer install; désinstaller uninstall; approuver approve
assigner assign; convertir convert; restaurer restore; compter count; comparer compare; archiver archive
enregistrer save; exporter export; trier sort; cliquer click; éteindre turn_off; allumer turn_on; traduire translate
résumer summarize; résumé summary; répondre reply; voix voice speech; son sound; musique music; fichier file
dossier directory; répertoire directory; contenu content; texte text; message message; canal channel; salon channel
utilisateur user; membre member; équipe team; compte account; courriel email; courrier email; pièce attachment
jointe attachment; calendrier calendar; agenda calendar; événement event; réunion meeting; rendez event; heure time
temps time; fuseau timezone; base database; données database; table table; ligne row; colonne column; champ field
clé key; enregistrement record; collection collection; cellule cell; page page; site site; capture screenshot
écran screen screenshot; image image; photo photo; navigateur browser; erreur error; incident incident
tâche task issue; problème issue; commentaire comment; branche branch; changement change; historique history
journal log; projet project; dépôt repository; document document; diapositive slide; présentation presentation
graphique chart; carte card map; liste list; tableau board table; itinéraire direction; chemin direction
distance distance; adresse address; lieu place; altitude elevation; lumière light; maison home; téléphone phone
portable mobile; application app; article article paper; actualités news; alerte alert; sauvegarde backup
permission permission; partager share; note note; modèle template; feuille sheet; classeur workbook; actuel current
étiquette label; demande request; tirage pull; météo weather
""",
    "chinese": """
创建 create; 新建 create; 添加 add; 增加 add; 插入 insert; 删除 delete; 移除 remove; 清空 clear; 更新 update
修改 edit; 编辑 edit; 重命名 rename; 显示 show; 查看 show get; 列出 list; 列表 list; 所有 all; 获取 get; 读取 read
阅读 read; 搜索 search; 查找 find; 查询 query; 发送 send; 发布 post; 写 write; 移动 move; 复制 copy; 运行 run
执行 run; 启动 start; 停止 stop; 取消 cancel; 上传 upload; 下载 download; 合并 merge; 关闭 close; 打开 open
安装 install; 卸载 uninstall; 批准 approve; 分配 assign; 指派 assign; 转换 convert; 恢复 restore; 计数 count
统计 count; 比较 compare; 归档 archive; 保存 save; 导出 export; 导入 import; 排序 sort; 点击 click; 输入 type
翻译 translate; 总结 summarize; 摘要 summary; 回复 reply; 语音 speech; 朗读 speech; 声音 voice; 音频 audio
音乐 music; 视频 video; 文件 file; 文件夹 directory; 目录 directory; 内容 content; 文本 text; 消息 message
频道 channel; 用户 user; 成员 member; 团队 team; 邮件 email; 邮箱 mailbox; 附件 attachment; 日历 calendar
日程 event; 事件 event; 会议 meeting; 时间 time; 时区 timezone; 数据库 database; 表格 table; 表 table; 行 row
列 column; 字段 field; 键 key; 记录 record; 集合 collection; 单元格 cell; 网页 page web; 页面 page; 网站 site
截图 screenshot; 屏幕 screen; 图片 image; 浏览器 browser; 错误 error; 问题 issue; 工单 ticket; 任务 task
评论 comment; 分支 branch; 提交 commit; 更改 change; 历史 history; 日志 log; 项目 project; 仓库 repository
合并请求 merge_request; 拉取请求 pull_request; 文档 document; 幻灯片 slide; 演示文稿 presentation; 图表 chart
卡片 card; 看板 board; 路线 direction; 导航 direction; 距离 distance; 地址 address; 地点 place; 海拔 elevation
灯 light; 手机 mobile; 电话 phone; 应用 app; 文章 article; 论文 paper; 新闻 news; 天气 weather; 警报 alert
备份 backup; 权限 permission; 共享 share; 笔记 note; 模板 template; 工作表 sheet; 当前 current; 标签 label
请求 request
""",
}

STOP = """
out let each every everything still yet already instead away right one goes go
a an the of in on at to for from by with into onto about and or but if then than as is are was were be been am do
does did i me my we us our you your he she it its they them their this that these those there here can could will
would should may please want need like just some any very also so too not no yes s t how when where because while
during until again only der die das den dem des ein eine einen einem einer eines und oder im auf aus bei mit von vom
zu zum zur für ist sind mir mich mein meine ich du wir uns unser es wie bitte diesen diese dieser dieses machen el
la los las un una unos unas de del al en con por para y o mi mis su sus que son como otra otro le les une d l au aux
dans sur avec pour par et ou mon ma mes sa ses ce cette ces est sont qu
"""

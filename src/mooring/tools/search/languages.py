"""What the words of the field are in other languages, by field. A plain table, a line for each concept.

`English words : German | Spanish | French | Chinese`. Regular endings need no entry of their own, nor do compounds.
Of a word on several lines the first is what it most likely means.
"""

FOREIGN = """
# Small words
the : der dieser jener ihn ihm ihnen dessen deren ihre ihren ihrem seine seinen seiner meinem meiner | esta este estos
    estas ese esa esos esas nuestro nuestra ello | celui celle ceux notre nos votre vos leur leurs quel lui
and : sowie samt nebst | además | puis ainsi
in : innerhalb darin | dentro desde hasta sobre | depuis chez vers dedans jusque
to : nach bis zwischen gegen gegenüber durch über unter vor neben ab um | hacia ante bajo sin | sans sous selon
for : damit wofür dafür davon daraus dazu dabei ohne wegen seit | según durante | afin lors pendant partir
is : gibt haben habe hatte wird werden wurde sein steht stehen stecken liegt befinden befindet läuft | hay tiene tengo
    tenemos tienen está están estoy ser fue hace hacen haz hacer he hubo había | avons avez ont était être suis fait
    faire faites fais fera sera
it : sie ihr euch etwas jemand dass selbst | ello algo alguien nos me te se | elle elles ils nous vous moi toi quelque
    quelqu se je tu il on
can : kann können kannst könntest darf dürfen möchte möchten soll sollen muss müssen will wollen brauche brauchen
    würde | puedo puede puedes podemos podría quiero quisiera necesito debo deseo favor gracias | peux peut pouvez
    pouvons pourrais veux voudrais voulons dois faut besoin merci svp
not : nicht kein keine keinen nichts nie | ningún ninguna nada nunca tampoco | pas ne rien jamais aucun aucune
how : wieso weshalb | cómo
when : wann sobald wenn als | cuándo cuando si | quand lorsque si
where : wo wohin woher | dónde donde adonde | où
because : weil denn da | porque pues | parce
again : nochmal nochmals erneut wieder | nuevamente vez | encore
just : gerade mal eben doch schon noch auch nur sehr so gern gerne | ya también sólo solo muy mismo aún más bien |
    déjà aussi seulement très juste bien
here : hier dort da | aquí allí ahí | ici là
about : betreffend bezüglich | acerca | concernant propos | 关于 有关
some : zwei drei vier fünf sechs sieben acht neun zehn zwanzig hundert tausend | tres cuatro cinco seis siete ocho
    nueve diez veinte cien | deux trois quatre cinq sept huit neuf dix vingt cent
# Asking
what get : | cuál | quoi | 什么
which list : welche welcher welches | cuáles cuál | quels quelle quelles lesquels | 哪些 哪个 哪几个 有哪些
who user : wer wem wen wessen | quién quiénes | qui | 谁
why explain : warum | motivo | pourquoi | 为什么 为何 怎么回事
how_many count : viele wieviel wieviele anzahl viel | cuántos cuántas cuánto cuánta cantidad | combien nombre | 多少
    几个 多少个 数量
how_far distance : weit | lejos | loin | 多远
how_long duration : lange dauer dauert | tarda dura duración | durée dure | 多久 多长时间 时长
whether check : ob | | | 是否 有没有
# Making and unmaking
create : erstellen anlegen erzeugen einrichten aufsetzen verfassen | crear cree generar generando crea creado creada |
    créer créez créons crée | 创建 新建 建立 建一个 新增 开一个 建个
generate create : generieren | generar | générer | 生成
build : bauen aufbauen | construir construye compilar | construire construis bâtir compiler | 构建 编译
new create : neu neuer neues neue | nuevo | nouveau nouvelle nouveaux | 新的
add : hinzufügen ergänzen beifügen dazu hinzu zufügen dranhängen eintragen eintrage | agregar agrega agregue añadir
    añade incluir sumar | ajouter rajouter | 添加 增加 加入 加上 加一 加个 追加 加
insert add : einfügen einsetzen | insertar introducir | insérer insère | 插入
append : anhängen | adjuntar | annexer | 追加 附加
delete : löschen tilgen wegwerfen wegwirf | eliminar borrar suprimir | supprimer effacer | 删除 删掉 删去 清除 删
remove : entfernen rausnehmen herausnehmen wegnehmen abnehmen | quitar retirar remover sacar saca | enlever enlève
    retirer ôter | 移除 去掉 去除 拿掉 取下 移出
clear : leeren ausleeren bereinigen aufräumen | limpiar vaciar vacía | vider nettoyer | 清空 清理
update : aktualisieren ändern erneuern anpassen | actualizar | actualiser mettre mets mettez jour | 更新
change : wechseln verändern umstellen wechsle | cambiar cambio | changer changement | 更改 改变 变更 改成 改为 换成
edit : bearbeiten editieren überarbeiten korrigieren | editar corregir corrige | éditer modifier corriger | 编辑 修改
    改一下 修正
modify : abändern | modificar | modifier
rename : umbenennen umbenenne | renombrar | renommer | 重命名 改名
replace : ersetzen austauschen tauschen | reemplazar sustituir sustituye reemplace | remplacer | 替换 代替 更换
copy : kopieren kopie abschreiben | copiar copia copie | copier copie | 复制 拷贝 副本
replica : | réplica | réplique | 副本
duplicate : duplizieren verdoppeln | duplicar | dupliquer | 克隆一份
clone : klonen | clonar | cloner | 克隆
move : verschieben umziehen bewegen verlegen | mover mueve mueva trasladar | déplacer bouger transférer | 移动 移到
    移至 挪到 转移
merge : zusammenführen vereinen verschmelzen | fusionar combinar unir | fusionner fusion combiner | 合并
split : aufteilen teilen trennen | dividir separar divide | diviser séparer scinder | 拆分 分割 分开
restore : wiederherstellen zurückholen wiederherstell | restaurar recuperar | restaurer récupérer rétablir | 恢复 还原
undo revert : rückgängig zurücknehmen zurücksetzen | deshacer revertir deshaz | défaire | 撤销 回滚 撤回
reset : zurücksetzen | restablecer reiniciar | réinitialiser | 重置
# Reading and finding
show list : zeigen anzeigen zeig vorzeigen | mostrar muestra muestre muéstrame enseñar enseña | afficher montrer |
    显示 展示
show get : ansehen anschauen schau sieh angucken | ver veo vea mira mirar | voir vois voyons regarder | 查看 看看
    看一下 看下 浏览
list : auflisten aufzählen liste nenne | listar listado lista enumerar | lister énumérer liste | 列出 列表 清单 名单
all : alle aller allen sämtliche jede ganze | todas toda cada | tous toutes tout toute chaque | 所有 全部 每个
read : lesen lies lese gelesen durchlesen | leer lee lea leído leyendo | lire lis lisez lu | 读取 阅读 读一下 读出
get : holen abrufen bekommen geben gib beschaffen nehmen nimm laden | obtener obtén dame dar traer trae conseguir dime
    | obtenir obtiens donner donne récupérer prendre prends dis | 获取 取得 得到 拿到 给我 取出 查一下 查下
search : suchen durchsuchen suche nachschlagen recherchieren | buscar busca busque búsqueda | chercher rechercher
    recherche | 搜索 搜一下 检索 搜 搜寻 包含 关键词
find : finden auffinden herausfinden | encontrar encuentra encuentre hallar localizar | trouver retrouver localiser |
    查找 找到 寻找 找出 找一下 找
query : abfragen abfrage anfrage | consultar consulta | interroger requête | 查询
count : zählen | contar | compter | 计数 统计 计算数量
total sum : summe gesamt insgesamt | total suma | somme totalité | 总数 总和 合计 求和
check : prüfen überprüfen nachsehen nachschauen kontrollieren | comprobar comprueba revisar verificar chequear |
    vérifier contrôler | 检查 核对 检测
validate : validieren | validar | valider | 验证 校验
test : testen testfall | probar prueba pruebas | tester essayer essai | 测试
compare : vergleichen vergleich | comparar comparación | comparer comparaison | 比较 对比
difference diff : unterschied differenz unterscheiden | diferencia | différence écart | 差异 区别 不同
explain : erklären erläutern erklärung | explicar | expliquer | 解释 说明
describe : beschreiben beschreibung | describir descripción | décrire décris | 描述
analyze : analysieren auswerten analyse untersuchen | analizar análisis analice | analyser | 分析
summarize : zusammenfassen | resumir | résumer | 总结 概括 归纳
summary : zusammenfassung überblick übersicht | resumen | résumé synthèse aperçu | 摘要 概要 概览 概述
calculate : berechnen rechnen ausrechnen | calcular calcula | calculer calcul | 计算
estimate : schätzen | estimar | estimer | 估算 估计
recommend : empfehlen empfehlung vorschlagen vorschlag | recomendar recomienda recomendación sugerir sugerencia |
    recommander recommandation conseiller suggérer | 推荐 建议
translate : übersetzen übersetzung | traducir traduce traducción | traduire traduis traduisez traduction | 翻译
extract : extrahieren auslesen herausziehen | extraer extrae | extraire extrais | 提取 抽取 抓取 抓下来
filter : filtern | filtrar filtro | filtrer filtre | 筛选 过滤
sort : sortieren ordnen anordnen | ordenar ordena clasificar | trier classer ordonner | 排序 排列
group : gruppieren gruppe | agrupar grupo | grouper regrouper groupe | 分组 群组 小组
browse : durchblättern stöbern | explorar hojear | parcourir | 浏览
history : verlauf historie chronik | historial historia | historique | 历史 历史记录
# Sending and sharing
send : senden schicken verschicken versenden abschicken zuschicken | enviar envía envíe mandar manda | envoyer envoie
    envoyez envoi expédier | 发送 发给 发一 发个 寄
post : veröffentlichen posten publizieren | publicar publica publique | publier | 发布 发表 发帖
write : schreiben schreib aufschreiben | escribir escribe | écrire écris écrivez rédiger | 写 写入 撰写 写一
reply : antworten beantworten antwort zurückschreiben | responder respuesta contestar | répondre réponds répondez
    réponse | 回复 答复 回信
answer : antwort beantworten | respuesta | réponse | 回答 答案
forward : weiterleiten weitersenden weitergeben | reenviar reenvía | transférer renvoyer renvoie retransmettre | 转发
share : teilen freigeben freigib freigabe | compartir comparte | partager partage | 共享 分享
invite : einladen einladung | invitar invitación invita | inviter | 邀请
notify notification : benachrichtigen benachrichtigung mitteilen | notificar notificación avisar aviso | notifier
    avertir prévenir | 通知 提醒我
reminder : erinnern erinnerung | recordatorio recordar recuerda | rappeler rappel rappelle | 提醒
subscribe : abonnieren | suscribir suscribirse | abonner abonne | 订阅
unsubscribe : abbestellen abmelden | desuscribir | désabonner désinscrire | 退订 取消订阅
follow watch : beobachten folgen verfolgen überwachen | seguir sigue vigilar observar | suivre suis surveiller | 关注
    跟踪 监视
assign : zuweisen zuordnen | asignar | assigner attribuer | 分配 指派 指定给
mention : erwähnen erwähnung | mencionar mención | mentionner | 提到 提及
# Running and stopping
run : ausführen laufen lauf durchführen | ejecutar correr ejecución | exécuter exécution | 运行 执行 跑一下 进行
start : starten beginnen loslegen anfangen | iniciar inicia empezar empieza comenzar arrancar | démarrer lancer
    commencer | 启动 开始
restart rerun : neustarten neustart | reiniciar relanzar | redémarrer relancer | 重启 重新启动 重新运行
retry rerun : wiederholen | reintentar repetir repite | réessayer répéter | 重试 重跑
stop : stoppen anhalten beenden | detener detén | arrêter stopper terminer | 停止 终止 结束
cancel : abbrechen abbrich stornieren absagen | cancelar anular | annuler | 取消
pause : pausieren | pausar | pauser | 暂停
wait : warten abwarten | esperar espera | attendre attends attendez | 等待 等到
close : schließen zumachen | cerrar cierra cierre | fermer clore clôturer | 关闭 关上
open : öffnen aufmachen offen offene | abrir abre abra abierto abierta | ouvrir ouvert ouverte | 打开 开启
turn_on enable : einschalten anschalten anmachen einzuschalten | encender enciende encienda prender prende | allumer |
    开灯 打开灯 开机
turn_off disable : ausschalten abschalten ausmachen auszuschalten | apagar apaga apague | éteindre éteins éteignez |
    关灯 关掉 熄灭 关机
enable activate : aktivieren freischalten | activar habilitar | activer | 启用 激活
disable : deaktivieren | desactivar deshabilitar | désactiver | 禁用 停用
toggle switch : umschalten schalten schalter | alternar conmutar interruptor | basculer interrupteur | 切换 开关
use : benutzen verwenden nutzen | usar utilizar | utiliser | 使用
choose select : auswählen wählen auswahl | elegir elige seleccionar escoger | choisir choisis sélectionner | 选择 选中
connect : verbinden anbinden | conectar conecta | connecter relier | 连接
disconnect : trennen | desconectar | déconnecter | 断开
connection : verbindung | conexión | connexion | 连接
login : anmelden einloggen anmeldung | ingresar acceder autenticar | authentifier | 登录 登陆
logout : abmelden ausloggen | desconectarse | déconnexion | 登出 注销
register : registrieren | registrar registrarse | inscrire inscription inscrit inscrits | 注册
trigger : auslösen anstoßen | disparar activar | déclencher | 触发
simulate : simulieren nachahmen | simular | simuler | 模拟
think : nachdenken denken überlegen | pensar piensa razonar | réfléchir penser raisonner | 思考 推理
schedule : planen einplanen zeitplan | programar planificar horario | planifier planning | 安排 计划 预定 排期
book : buchen reservieren buchung | reservar reserva | réserver réservation | 预订 预约 订一张 订一
# Moving data
upload : hochladen hochgeladen | subir sube suba cargar carga | téléverser charger uploader | 上传
download : herunterladen runterladen heruntergeladen | descargar descarga descargue bajar | télécharger téléchargement
    | 下载
export : exportieren ausgeben | exportar | exporter | 导出 输出
import : importieren einlesen | importar | importer | 导入
save : speichern abspeichern sichern merken speichere | guardar guarde | enregistrer sauvegarder mémoriser | 保存 存储
    存到 记住 记下
backup : sicherung sicherungskopie | respaldo respaldar seguridad | sauvegarde | 备份
archive : archivieren archiv | archivar | archiver | 归档 存档
sync : synchronisieren abgleichen | sincronizar | synchroniser | 同步
convert : umwandeln konvertieren umrechnen wandeln umwandle | convertir convierte | convertir convertis transformer |
    转换 转成 转为 换算
compress zip : komprimieren packen | comprimir comprime | compresser compression | 压缩
install : installieren | instalar | installer | 安装
uninstall : deinstallieren | desinstalar | désinstaller | 卸载
deploy : bereitstellen ausrollen bereitstellung | desplegar despliega despliegue | déployer déploie déploiement | 部署
    上线
upgrade : aufrüsten hochstufen | | mise niveau | 升级
scale : skalieren | escalar | échelle | 扩容 缩放 伸缩
config : konfigurieren einstellen konfiguration | configurar configuración | configurer configuration | 配置
setting : einstellung | ajuste preferencia | réglage paramètre préférence | 设置 设定
set : setzen festlegen stellen | establecer fijar poner pon ponga ponme | définir définis régler fixer | 设为 设成
    调到 设置为
attach : anhängen anheften beilegen hefte heften | adjuntar | joindre joins attacher | 附上
link : verknüpfen verlinken verknüpfung verweis | enlazar enlace vincular vínculo | lier lien | 链接 关联
approve : genehmigen freigeben zustimmen genehmigung | aprobar aprueba apruebe aceptar | approuver accepter
    approbation | 批准 审批 同意 通过
reject : ablehnen zurückweisen | rechazar rechaza | rejeter refuser | 拒绝 驳回
review : begutachten überprüfung durchsicht | revisar | relire relecture | 审查 评审 审核
protect : schützen schutz sperren | proteger protege bloquear | protéger verrouiller bloquer | 保护 锁定
unprotect unlock : entsperren | desbloquear desproteger | déverrouiller | 解锁
format : formatieren formatierung | formatear formato | formater | 格式 格式化
resize size : vergrößern verkleinern | redimensionar agrandar | redimensionner agrandir réduire | 调整大小 放大 缩小
increase : erhöhen steigern | aumentar subir | augmenter | 增大 提高 调高
decrease : senken verringern reduzieren | reducir disminuir | diminuer baisser | 降低 减少 调低
highlight : hervorheben markierung | resaltar | surligner | 高亮
mark : markieren kennzeichnen abhaken | marcar marca | marquer cocher | 标记 标为
resolve close : lösen erledigen beheben | resolver resuelve | résoudre résous | 解决
complete done : abschließen fertigstellen erledigt fertig | completar terminar terminado hecho | finir achever | 完成
    已完成 做完
play : abspielen spielen wiedergeben | reproducir tocar | jouer lire lecture | 播放
record : aufnehmen aufnimm aufzeichnen aufnahme | grabar graba grabación | filmer | 录制 录音
optimize : optimieren verbessern | optimizar mejorar mejora | optimiser améliorer | 优化 改进
track : nachverfolgen | rastrear seguimiento | suivi | 追踪
# How things are
last recent : letzte letzter letztes letzten zuletzt neueste neuesten kürzlich | último última últimos últimas
    reciente | dernier dernière derniers dernières récent récente | 最近 最新 最后 上次 近期
latest : jüngste neuste | | | 最新的
next : nächste nächster nächstes kommende | próximo próxima siguiente | prochain prochaine suivant suivante | 下一个
    下个
previous : vorherige vorige | anterior | précédent précédente | 上一个 之前的
first : erste erster erstes | primero primera primer | premier première | 第一 首个
current : aktuell aktuelle derzeit momentan jetzt gegenwärtig | actual ahora actualmente | actuel actuelle
    actuellement maintenant | 当前 现在 目前
unread : ungelesen | leído | lus | 未读
closed : geschlossen | cerrado | | 已关闭
active : aktiv laufend | activo vigente | actif active actifs actives | 活跃 活动的 正在
available : verfügbar | disponible | disponible | 可用
empty clear : leer | vacío vacía | vide vides | 空的
public : öffentlich | público | publique publics | 公开 公共
private : privat | privado | privé | 私有 私人
failed failure : fehlgeschlagen gescheitert misslungen fehlschlag | fallido fallida fallo falla fallan fallaron
    fracasado | échoué échouer échec échouent | 失败
slow latency : langsam | lento | lent lente | 慢
fast : schnell | rápido | rapide
big size : groß größte größe | grande tamaño mayor | taille gros | 大小 尺寸
important : wichtig | importante urgente | importante importantes | 重要
duplicate : doppelt | duplicado repetido | doublon doublons | 重复
similar : ähnlich | parecido semejante | semblable similaire | 相似 类似
related : verwandt zugehörig | relacionado | apparenté | 相关
popular : beliebt | | populaire | 热门
free : frei kostenlos | libre gratis gratuito | libre libres gratuit | 空闲 免费 有空 空余
red color : rot | rojo roja | rouge | 红色
green color : grün | verde | vert verte | 绿色
blue color : blau | azul | bleu bleue | 蓝色
color : farbe färben einfärben | color colorear | couleur colorier | 颜色
bold format : fett fettgedruckt | negrita | gras | 加粗 粗体
italic format : kursiv | cursiva | italique | 斜体
multiple : mehrere einige | varios varias múltiples algunos | plusieurs quelques | 多个 几个 批量
# People, teams and rights
user : benutzer nutzer anwender person leute | usuario persona gente | utilisateur personne gens | 用户 人员
member : mitglied teilnehmer | miembro integrante participante | membre participant | 成员 参与者 参加
team : mannschaft belegschaft | equipo | équipe | 团队 部门
organization : organisation firma | organización empresa | organisation entreprise | 组织 机构
account : konto benutzerkonto | | | 账户 账号 帐户 帐号
account count : | cuenta | compte
profile : profil | perfil | profil | 资料 个人资料
author : autor verfasser | autor autora | auteur | 作者
assignee owner : bearbeiter zuständig verantwortlich besitzer eigentümer | responsable encargado dueño propietario
    asignado | propriétaire responsable | 负责人 所有者
colleague user : kollege kollegin chef | compañero colega jefe jefa | collègue chef | 同事 老板
customer : kunde kundin | cliente | cliente clients | 客户 顾客
company : firma unternehmen | empresa compañía | société entreprise | 公司 企业
contact : kontakt ansprechpartner | contacto | contacter | 联系人 联系
deal : geschäft abschluss | negocio trato | affaire contrat | 商机 交易
sales deal : verkauf umsatz vertrieb | venta ventas | vente ventes | 销售 销售额
lead : interessent | prospecto | prospect | 线索
permission : berechtigung erlaubnis recht zugriffsrecht | permiso autorización | permission droit droits autorisation
    | 权限 许可
access permission : zugriff zugang | acceso | accès | 访问
role : rolle | rol papel | rôle | 角色
password : passwort kennwort | contraseña | passe | 密码 口令
token key : zugangsschlüssel | | jeton | 令牌
secret : geheimnis geheim | secreto | | 密钥 机密
key : schlüssel | clave llave tecla | clé clef touche | 键 按键
certificate : zertifikat | certificado | certificat | 证书
security : sicherheit sicherheitslücke | seguridad | sécurité | 安全
vulnerability : schwachstelle lücke | vulnerabilidad | vulnérabilité faille | 漏洞
# Code hosts and git
repository : ablage quellcode | repositorio | dépôt | 仓库 代码库 存储库
branch : zweig ast | rama | branche | 分支
commit : einchecken | confirmación | | 提交
push : schieben | empujar | pousser | 推送
pull : ziehen | extracción tirar | tirage tirer | 拉取
request : anfrage anforderung antrag | solicitud petición pedir pide | demande requête demander | 请求
pull_request : | | | 拉取请求
merge_request : | | | 合并请求
fork : abspalten abspaltung | bifurcar bifurcación bifurca | bifurquer fourche | 分叉 复刻 派生
change : änderung | cambio modificación | changement modification | 更改 改动 变动
conflict : konflikt | conflicto | conflit | 冲突
release : veröffentlichung freigabe | lanzamiento | parution | 发行版 发版 发布版本
version : fassung | versión | | 版本
label : beschriftung schild schlagwort etikett | etiqueta rótulo | étiquette libellé étiqueter | 标签
tag : schlagwort kennzeichen etikett | etiqueta etiquetar | balise | 标签
code : quelltext programmcode | código | | 代码
function : funktion | función | fonction | 函数 功能
library : bibliothek | biblioteca librería | bibliothèque | 库 图书馆
documentation : dokumentation anleitung handbuch | documentación manual guía | documentation manuel | 手册 指南
script : skript | guion | | 脚本
package : paket | paquete | paquet colis | 软件包
dependency : abhängigkeit | dependencia | dépendance | 依赖
line : | línea renglón | | 行号
# Issues and planning
task issue : aufgabe | tarea | tâche | 任务 待办
issue ticket : problem vorgang | incidencia problema asunto | problème souci | 问题 议题
bug issue : fehlerbericht | fallo defecto | bogue anomalie | 缺陷 漏洞 故障
ticket : störungsmeldung | boleto tique | billet | 工单
comment : kommentar kommentieren anmerkung bemerkung | comentario comentar observación | commentaire commenter
    remarque | 评论 注释 留言 备注
annotation comment : anmerkung | anotación anotar | annoter | 批注 标注
discussion : diskussion | discusión debate | débat | 讨论
project : projekt vorhaben | proyecto | projet | 项目 工程
milestone : meilenstein | hito | jalon | 里程碑
sprint : | | | 冲刺 迭代
epic : | épica | épopée | 史诗
board : brett tafel pinnwand | tablero pizarra | tableau tableaux | 看板
card : karte | tarjeta ficha | carte fiche | 卡片
checklist : prüfliste abhakliste | verificación comprobación | cocher | 检查清单 核对表
todo task : erledigen | pendiente pendientes | | 待办事项
priority : priorität dringlichkeit dringend | prioridad | priorité | 优先级
deadline due : frist fällig fälligkeit stichtag | plazo vencimiento vence | échéance délai | 截止 截止日期 到期
status : zustand status | estado situación | statut état | 状态 进度 怎么样 情况
backlog : | | arriéré | 待办列表 积压
field : feld | campo | champ | 字段 域
template : vorlage muster | plantilla modelo | modèle gabarit | 模板
time_spent worklog : arbeitszeit zeiterfassung aufwand | dedicado horas | passées | 工时
# Builds, cloud, containers
pipeline : | | | 流水线 管道
workflow : arbeitsablauf ablauf | flujo | flux | 工作流 流程
job : auftrag | trabajo | travail travaux | 作业 工作
artifact : artefakt | artefacto | artefact | 制品 构建产物
container : behälter | contenedor | conteneur | 容器
cluster : verbund | clúster | grappe | 集群
node : knoten | nodo | nœud noeud | 节点
pod : | | | 容器组
namespace : namensraum | | | 命名空间
server : rechner | servidor | serveur | 服务器
service : dienst | servicio | | 服务
resource : ressource | recurso | ressource | 资源
instance : instanz | instancia | | 实例
image container : abbild | | | 镜像
snapshot : schnappschuss momentaufnahme | instantánea | instantané | 快照
environment : umgebung | entorno ambiente | environnement | 环境
production environment : produktion produktiv | producción | | 生产环境
variable : | | | 变量
flag : funktionsschalter merkmal flagge | bandera indicador | drapeau | 功能开关 特性开关 标志
port : anschluss | puerto | | 端口
bucket : eimer | cubo | | 存储桶
storage : speicher speicherplatz | almacenamiento almacén | stockage | 存储 空间
cost : kosten preis kostet | costo coste precio cuesta cuestan | coût prix coûte | 费用 成本 价格
cheap cost : günstig billig | barato económico | chers | 便宜 最便宜
usage : verbrauch nutzung auslastung belegt belegen | uso consumo | utilisation consommation | 用量 使用量 使用率 占用
network : netzwerk | | réseau | 网络
domain : domäne | dominio | domaine | 域名
rollback : zurückrollen | reversión | | 回滚
# Databases
database : datenbank | base datos | base données | 数据库
table : tabelle | tabla | tableau tableaux | 表格 表 数据表
row : zeile reihe | fila | ligne rangée | 行
column : spalte | columna | colonne | 列
record : eintrag datensatz | | enregistrement | 记录 条目
collection : sammlung | colección | | 集合 收藏
schema : struktur | esquema estructura | schéma structure | 结构 模式 架构
index : | índice indexar | indice indexer | 索引
value : wert | valor | valeur | 值 数值
data : daten | datos dato | donnée | 数据
expire : ablaufen ablauf verfallen | caducar expirar caducidad | expirer | 过期 失效
cache : zwischenspeicher | caché | | 缓存
queue list : warteschlange | cola | | 队列
vector : vektor | | vecteur | 向量
graph : graph | grafo | graphe | 图谱
entity : entität | entidad | entité | 实体
relation : beziehung | relación | | 关系
slow_queries : | | | 慢查询
# Monitoring and incidents
log : protokoll logdatei log | bitácora | journal journaux | 日志
log record : | registro
error : fehler | error errores | erreur | 错误 报错 异常
crash : absturz abgestürzt | caída | plantage planter | 崩溃
alert : alarm warnung warnmeldung | alerta alarma | alerte alarme | 警报 告警 报警
incident : vorfall störung zwischenfall | incidente | panne | 事故 故障
outage incident : ausfall | apagón | interruption | 宕机 中断
metric : kennzahl messwert metrik | métrica | métrique | 指标
dashboard : übersichtstafel armaturenbrett dashboard | panel tablero | bord | 仪表盘 仪表板 控制台
panel : | | panneau panneaux | 面板
monitor : überwachung überwachen | monitorizar monitorear vigilancia | surveillance surveiller | 监控
latency : verzögerung wartezeit | latencia demora | latence | 延迟
performance : leistung | rendimiento desempeño | rendement | 性能
silence : stumm stummschalten | silenciar silencio | | 静默 静音
on_call : bereitschaft rufbereitschaft | guardia | astreinte | 值班
datasource : datenquelle | fuente | source sources | 数据源
trace : spur | traza rastro | trace tracer | 链路 跟踪
event : ereignis | evento suceso | événement | 事件
health status : gesundheit | salud | santé | 健康
audit : prüfprotokoll | auditoría | | 审计
statistics stats : statistik | estadística | statistique | 统计信息 统计数据
report : bericht | informe reporte | rapport | 报告 报表
# Files
file : datei | archivo fichero | fichier | 文件
directory : ordner verzeichnis | carpeta directorio | dossier répertoire | 文件夹 目录
content : inhalt | contenido | contenu | 内容
text : text | texto | texte | 文本 文字
path : pfad dateipfad | | | 路径
attachment : anhang anlage | adjunto | jointe jointes pièces | 附件
trash : papierkorb | papelera basura | corbeille | 回收站 垃圾箱
image : bild grafik | imagen imágenes | image | 图片 图像 照片
photo image : aufnahme foto | fotografía foto | | 照片 相片
video : film | vídeo película | vidéo | 视频 影片
drive : laufwerk | unidad disco | disque | 云盘 网盘 硬盘
name : | nombre | nom noms | 名称 名字
title : titel | título | titre | 标题
# Web and browser
web : netz internet | internet | toile internet | 网上 互联网 上网 网络搜索
page web : webseite internetseite seite startseite | página | accueil | 网页 页面 页 首页 主页
site : website | sitio | | 网站 站点
url address : webadresse | | | 网址 链接
browser : browser | navegador | navigateur | 浏览器
navigate : navigieren | navegar navega | naviguer | 跳转 访问
back : zurück | atrás volver vuelve | retour revenir reviens | 返回 后退
tab : reiter | pestaña | onglet | 标签页 选项卡
window : fenster | ventana | fenêtre | 窗口
click : klicken anklicken klick | clic pincha | cliquer clic | 点击 单击 点一下
press : drücken | pulsar presionar presiona apretar | appuyer appuie presser | 按下
button click : knopf schaltfläche | botón | bouton | 按钮
type : tippen eintippen eingeben eingib | teclear | taper saisir saisis | 输入 打字 键盘
fill form : ausfüllen formular | rellenar rellena llenar formulario | remplir remplis formulaire | 填写 表单 填表
scroll swipe : scrollen blättern wischen | desplazar deslizar desliza | défiler glisser | 滚动 滑动
drag : ziehen | arrastrar | | 拖动 拖拽
hover : schweben | | survoler | 悬停
screen : bildschirm | pantalla | écran | 屏幕
screenshot : bildschirmfoto bildschirmaufnahme schirmbild | captura pantallazo pantalla | capture écran | 截图 截屏
    屏幕截图
element : | elemento | élément | 元素
dialog : dialogfenster | diálogo | | 对话框 弹窗
console : konsole | consola | | 控制台
crawl : durchforsten | rastrear | explorer | 爬取 爬虫
research : recherche nachforschung | investigar investigación | enquêter | 研究 调研
news : nachrichten neuigkeiten | noticia noticias | actualité actualités nouvelles | 新闻 资讯
article : artikel beitrag | artículo | article | 文章
wikipedia article : enzyklopädie lexikon | enciclopedia | encyclopédie | 百科 维基百科
# Mail, chat, calendar
email : mails elektropost | correo electrónico carta | courriel courrier mél lettre | 邮件 电子邮件 信件
mailbox : postfach posteingang briefkasten | buzón bandeja | boîte | 邮箱 收件箱
draft : entwurf | borrador | brouillon | 草稿
recipient : empfänger | destinatario | destinataire | 收件人
sender : absender | remitente | expéditeur | 发件人
message : nachricht mitteilung nachrichten | mensaje | message | 消息 信息 短信
chat message : unterhaltung plaudern | charla chatear | clavardage discuter | 聊天
conversation : gespräch unterhaltung | conversación | | 对话 会话
channel : kanal | canal | canal canaux salon | 频道 渠道
thread : gesprächsfaden strang | hilo | fil | 话题 主题帖 帖子
forum : | foro | | 论坛
reaction emoji : reaktion reagieren | reacción reaccionar | réaction réagir | 表情 反应 点赞
calendar : kalender | calendario agenda | calendrier agenda | 日历
event meeting : termin verabredung termine | cita | rendez | 日程 活动 约会
meeting event : besprechung sitzung treffen | reunión junta | réunion | 会议 开会
vacation out_of_office : urlaub ferien abwesenheit abwesend | vacaciones ausencia | vacances congé absence | 休假 假期
    度假
phone call : telefon anruf anrufen telefonieren | teléfono llamar llamada llama | téléphone appeler appel appelle |
    电话 打电话 通话
# Documents, sheets, slides, notes
document : dokument schriftstück | documento | document | 文档
document contract : vertrag | contrato | contrat | 合同
paragraph : absatz | párrafo | paragraphe | 段落
heading title : überschrift | encabezado | titre entête | 标题 页眉
footnote : fußnote | | | 脚注
section : abschnitt kapitel | sección capítulo apartado | chapitre | 章节 部分
style : stil | estilo | | 样式
font : schrift schriftart | fuente letra | | 字体
bullet list : aufzählung stichpunkt aufzählungspunkt | viñeta | puce puces | 项目符号 要点
word : wort wörter | palabra | mot mots | 单词 词
spreadsheet sheet : tabellenblatt kalkulationstabelle tabellenkalkulation | cálculo | tableur calcul | 电子表格
sheet : blatt arbeitsblatt | hoja | feuille | 工作表
workbook : arbeitsmappe mappe | libro | classeur | 工作簿
cell : zelle | celda | cellule | 单元格
range : bereich | rango | plage | 区域 范围
formula : formel | fórmula | formule | 公式
pivot : | dinámica | croisé | 透视表 数据透视
chart : diagramm schaubild | gráfico gráfica diagrama | graphique diagramme | 图表 图形
slide : folie | diapositiva | diapositive diapo | 幻灯片
presentation : präsentation vortrag | presentación | présentation exposé | 演示文稿 演示
shape : figur | forma figura | forme | 形状
note : notiz notieren | nota anotar apunte | noter | 笔记 便签 记事 纪要
block : baustein | bloque | bloc | 区块
property : eigenschaft | propiedad | propriété | 属性
form : formular umfrage fragebogen | formulario encuesta | formulaire sondage | 表单 问卷
# Design, papers
design : entwurf gestaltung gestalten | diseño diseñar | conception concevoir | 设计
icon image : symbol | icono | icône | 图标
paper : aufsatz fachartikel veröffentlichung studie abhandlung | artículo científico estudio investigación | article
    étude scientifique | 论文 文献
abstract : kurzfassung | | | 摘要
citation : zitat zitieren quelle | cita citar | citer référence | 引用 引文
book : buch | libro | livre livres | 书 书籍 图书
bibliography : literaturverzeichnis literatur | bibliografía | bibliographie | 参考文献
topic : thema | tema | thème sujet | 主题 话题
# Money and trade
payment : zahlung bezahlen bezahlung zahlen | pago pagar | paiement payer paie | 付款 支付
invoice : rechnung | factura facturar | facture facturer | 发票 账单
order : bestellung bestellen | pedido encargo | commande commander | 订单
product : produkt ware | producto | produit | 产品 商品
subscription : abonnement abo | suscripción | abonnement | 订阅
currency : währung | moneda divisa | devise monnaie | 货币 汇率
refund : rückerstattung erstatten | reembolso reembolsar | rembourser remboursement | 退款
stock : aktie | acción bolsa | bourse | 股票
balance : guthaben kontostand saldo | saldo | solde | 余额
bank : | banco | banque | 银行
# Maps, weather, travel, time
map : landkarte stadtplan karte | mapa plano | carte | 地图
direction route : weg wegbeschreibung route strecke anfahrt | ruta camino llegar indicaciones | itinéraire trajet |
    路线 导航 怎么走 怎么去
direction path : | | chemin
distance : entfernung abstand kilometer | distancia kilómetro | distance kilomètre | 距离 公里
address : adresse anschrift | domicilio | adresse | 地址
address direction : | dirección
place : ort standort | lugar sitio | lieu endroit | 地点 地方 位置
nearby place : nähe umgebung nah | cerca cercano cercana | proximité proche alentours | 附近 周边 周围
restaurant place : gaststätte lokal | restaurante | | 餐厅 餐馆 饭店
rating place : bewertung öffnungszeiten geöffnet | puntuación valoración reseña | évaluation | 评分 评价 营业时间
cafe place : kaffeehaus café | cafetería | | 咖啡馆 咖啡店 咖啡厅
shop place : laden geschäft apotheke supermarkt | tienda farmacia supermercado | magasin boutique pharmacie | 商店
    药店 超市
coordinate geocode : koordinate breitengrad längengrad | coordenada latitud longitud | coordonnée | 坐标 经纬度
elevation : höhe meereshöhe hoch | altura altitud elevación | altitude hauteur | 海拔 高度
weather : wetter wettervorhersage | clima | météo | 天气
rain weather : regnen regnet regnerisch regenschirm | lluvia llover llueve | pluie pleuvoir pleut | 下雨 雨
forecast weather : vorhersage | pronóstico previsión | prévision | 预报
temperature : temperatur | temperatura | température | 温度 气温
time : uhrzeit zeit spät uhr | hora | heure temps | 时间 几点 时刻
time weather : | tiempo
timezone : zeitzone | zona huso | fuseau | 时区
date : datum | fecha | | 日期
today : heute heutige | hoy | aujourd hui | 今天 今日
tomorrow event : morgen | mañana | demain | 明天
yesterday : gestern | ayer | hier | 昨天
week : woche | semana | semaine | 本周 星期 周 下周 上周 这周
month : monat | | mois | 月份 本月
day : tage täglich | día diario | jour journée | 日子
day time : montag dienstag mittwoch donnerstag freitag samstag sonntag | lunes martes miércoles jueves viernes sábado
    domingo | lundi mardi mercredi jeudi vendredi samedi dimanche | 周一 周二 周三 周四 周五 周六 周日 星期一
year : jahr | año | année | 年份 今年
minute : | minuto | | 分钟
flight : flug flüge flughafen | vuelo aeropuerto avión | vol vols aéroport avion | 航班 机票 机场 飞机
hotel : unterkunft | alojamiento | hébergement | 酒店 旅馆 住宿
train : zug bahn | tren | | 火车 高铁 列车
station train : bahnhof haltestelle | estación parada | gare | 车站 火车站
travel trip : reise reisen | viaje viajar | voyage voyager | 旅行 行程 旅游
car : wagen | coche | voiture | 汽车 开车
city : stadt | ciudad | ville | 城市
country : | país | pays | 国家
# Home and devices
home : haus wohnung zuhause | casa hogar | maison domicile | 家里 家中 智能家居
room home : wohnzimmer schlafzimmer küche badezimmer zimmer raum | sala salón cocina dormitorio habitación | cuisine
    chambre salle | 客厅 卧室 厨房 房间
light : licht lampe beleuchtung | luz luces lámpara bombilla | lumière lampe | 灯 灯光
heating temperature : heizung | calefacción | chauffage | 暖气 空调
sensor : fühler | | capteur | 传感器
automation : automatisierung automatisieren | automatización automatizar | automatisation automatiser | 自动化
device : gerät | dispositivo aparato | appareil | 设备 装置
mobile phone : handy smartphone | móvil celular | portable mobile | 手机
app : anwendung programm | aplicación programa | application logiciel | 应用 程序 软件
camera : kamera | cámara | caméra | 摄像头 相机
door : tür | puerta | porte | 大门 门锁
# Media and speech
speech : sprache vorlesen vorlies sprechen | habla hablar | parole parler | 语音 朗读 念出来
aloud speech : laut | alta | haute | 大声
voice speech : stimme | voz | voix | 声音 嗓音
sound : ton geräusch klang | sonido ruido | bruit | 音效
audio : tonspur hörprobe audio | | | 音频
music : musik lied | música canción | musique chanson | 音乐 歌曲 歌 一首
transcript : abschrift mitschrift untertitel transkript | transcripción transcribir subtítulo | transcrire
    transcription transcris | 字幕 转录 文字稿 转写
language : fremdsprache | idioma lengua | langue | 语言
language english : englisch deutsch spanisch französisch chinesisch | inglés alemán español francés chino | anglais
    allemand espagnol français chinois | 英语 英文 中文 德语 法语 西班牙语
image generate : zeichnen malen | dibujar dibujo | dessiner dessin | 画 绘制
# Memory, math
memory remember : gedächtnis erinnere | memoria recuerda | mémoire souvenir | 记忆 内存
observation : beobachtung | observación | | 观察
number : zahl nummer ziffer | número cifra | numéro chiffre | 数字 号码
average : durchschnitt mittelwert | promedio | moyenne | 平均
percent : prozent | porcentaje ciento | pourcentage | 百分比
equation math : gleichung | ecuación | équation | 方程
step think : schritt schrittweise | paso pasos | étape étapes | 步骤 一步
idea : | | idée | 想法
"""

"""What the words of the field are in other languages: for each of theirs, the English ones. A plain table."""

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

"""What people say and what tools call it, by field. Plain tables; an underscore joins the words of a phrase.

A line goes on where the next one is indented. Phrases are known by their words in any order, and without words such as
`the` and `my`.
"""

ACTIONS = """
# Making and unmaking
create make build register compose draft ~ new add insert generate write post put open init provision set : begin
    produce prepare set_up put_together come_up_with spin_up craft establish raise start_new stand_up one_more another
    invent whip_up lay_out place bring_into bootstrap scaffold introduce include book schedule report_bug
    report_problem
open ~ create : file_bug file_ticket file_issue raise_ticket raise_issue open_ticket report_bug report_problem log_bug
    log_ticket start_ticket file_complaint
add attach include ~ append insert put push : tack_on stick_into stick_on throw_in put_into put_onto put_in put_on
    slip_in drop_in place_in enter_into one_more plus extra additional
delete drop erase destroy purge clear discard trash uninstall cleanup wipe ~ remove : get_rid rid throw_away throw_out
    bin scrap nuke kill take_off take_out take_away strip scrub dump no_longer_need not_need not_want anymore any_more
    toss ditch zap forget eliminate dispose lose shred tear_down clean_up clean_out clean empty out_of_way take_down
    clear_out blow_away axe unwanted obsolete for_good gone vanish make_disappear cancel take_back unlearn unsay
    forget_what forget_about
clear reset flush empty clean cleanup purge : wipe blank start_over from_scratch start_afresh clean_slate tidy tidy_up
update edit modify patch alter adjust rewrite upsert amend manage ~ change set put : correct revise fix_typo
    fix_mistake fix tweak touch_up rework make_it_say mistake typo refresh bring_up_to_date make_change overhaul
    reword rephrase rename retitle put_right turn_into should_be should_say
rename name title : call_it called give_name give_another_name new_name retitle different_name another_name
    change_name rechristen relabel be_called should_be_called other_name new_title
replace substitute swap exchange overwrite : switch_out instead_of put_in_place change_every find_and_replace
    everywhere change_all in_place_of
copy duplicate clone replicate fork : make_copy second_version same_again another_copy twin carbon_copy xerox copy_of
    own_copy reproduce one_just_like
move transfer relocate shift reparent : drag put_under put_elsewhere put_somewhere_else another_place different_place
    other_folder another_folder take_to shove bring_over belongs_in put_into migrate reassign_to push_back reorganize
    rename
merge combine join consolidate : unite fuse bring_together put_together blend one_out_of make_one bring_into
    get_into_main land land_in mash squash make_one_out
split separate isolate divide ~ extract : break_apart tear_apart take_apart break_up break_down pull_apart strip
append extend ~ add : continue add_to_end at_end at_bottom to_end end_of tack_on jot_at_end
insert ~ add : put_between put_before put_after in_between squeeze_in
# Reading and asking
list enumerate all show ~ get index catalog : overview browse what display show_all what_are what_all everything every
    full_list see_all which_ones what_kind what_do_we_have what_have_we_got do_we_have do_i_have have_we there_are
    are_there is_there what_exist available run_through go_through rundown inventory name_all give_me_all which exist
get fetch retrieve view show load describe inspect ~ read info detail : look tell_me what what_is what_does what_do
    check obtain give_me show_me pull_up bring_up let_me_see open take_look have_look look_at look_up look_into
    find_out learn_about tell_about more_about let_me_read hand_me grab whats check_out dig_out display peek glance
    examine study which consult
read ~ get content text : what_does_it_say what_does_say say what_is_in what_is_inside what_stands_in written go_over
    word_for_word let_me_read contents_of read_through skim peruse give_me_text text_of
describe explain ~ info detail summary get : what_is what_kind what_does_it_mean tell_me_about all_about more_about
    ins_and_outs details_of particulars everything_about know_about background_on facts_about what_exactly
search find lookup discover ~ query filter : look_for look_up seek locate hunt track_down where_is where_are where_did
    dig_up dig_out come_across somewhere google spot which_one mention mentions mentioned anything_about anything_on
    something_about contain containing talk_about i_remember what_was_that root_out hunt_down scan_for scour turn_up
    sift grep look_something_up search_through where_in where_do_they which_ones_are find_out_online find_out
query execute sql ~ run search : ask interrogate select
count total ~ number size stats : how_many how_much number_of amount tally quantity add_up
check verify validate ~ test status : whether see_if find_out_if make_sure ensure confirm_that double_check any_good
    okay_to all_right valid legal sound sane is_valid problem_with wrong_with mistake_in
validate lint verify ~ check test : is_it_correct is_it_valid prove syntax sound well_formed any_mistake any_error
    before_i_commit spell_check go_through_for_mistakes check_for_errors
compare difference ~ diff : changed what_changed side_by_side versus vs against differ different_between
    what_is_different between contrast how_do_they_differ what_is_new next_to_each_other beside_each_other
    hold_against put_next slower_than faster_than better_than
explain why ~ plan analyze : how_come reason root_cause figure_out understand make_sense what_went_wrong what_caused
    what_broke how_does_it_work
analyze analyse insight inspect evaluate assess audit analysis : examine study figure_out look_closely dig_into
    break_down what_is_wrong make_sense_of work_out assess investigate go_over
summarize abstract overview ~ summary extract : gist tl_dr tldr in_short in_brief short_version nutshell main_points
    key_points boil_down sum_up recap in_few_words in_nutshell brief condense shorten digest highlights essence
    what_it_boils quick_version
estimate calculate compute ~ analyze : work_out figure_out reckon how_much_would
calculate compute evaluate sum math eval : work_out add_up what_is_the_result do_the_math solve reckon
recommend suggest propose advise : should_i what_would_you advice tips ideas good_idea best_way what_should
    recommendation best_practice what_else
# Sending and sharing
send publish deliver reply ~ post message write : tell let_know inform drop_line shoot write_to ping get_word_to
    pass_on say say_to say_in shout mention dispatch tell_everyone give_heads_up heads_up text_to mail_to send_off
    send_over send_out put_out announce tell_that notify
post publish announce broadcast send : put_online make_public go_live put_out release_to_public tell_everyone
    spread_word share_with_everyone shout
reply answer respond ~ comment thread : write_back get_back_to react_to respond_to answer_back say_something_back
    chime_in
forward pass relay redirect : pass_on send_on pass_along hand_on send_along
share access grant invite ~ permission : give_access let_see let_open let_edit let_anyone anyone_with_link
    make_available open_up open_to with_others let_others give_rights can_see who_can who_may allow_in make_public
    hand_out make_visible several_share
notify notification subscribe ~ alert : let_me_know tell_me_when tell_me_if warn_me ping_me remind inform
subscribe watch monitor follow observe listen : keep_eye keep_me_posted let_me_know tell_me_when tell_me_if keep_track
    keep_up stay_on_top stay_informed stay_up_to_date hear_about get_notified notify_me keep_posted in_the_loop
    keep_informed look_out_for track
unsubscribe unwatch unfollow ~ remove : stop_following stop_watching not_interested not_want_to_hear stop_telling
    no_more_news no_more_notification opt_out leave_me_alone stop_getting stop_notif
invite ~ add member : bring_in ask_to_join let_in bring_on_board get_on_board
assign delegate owner assignee : hand_over give_to hand_to responsible put_in_charge who_should in_charge take_over
    pass_to let_do make_responsible put_on give hand
# Running and stopping
run execute launch trigger invoke perform call ~ start : kick_off set_off fire fire_off get_going go_ahead carry_out
    do_it begin set_in_motion fire_up let_rip
start begin launch session ~ open create : fire_up boot boot_up bring_up get_going begin start_up turn_on set_off
rerun retry restart again ~ run : once_more another_go try_again one_more_time repeat do_over again_from
    have_another_go give_another
restart reboot reload ~ rollout : bounce turn_off_and_on kick recycle start_again fresh_start
stop cancel terminate end abort halt quit disconnect ~ close : kill shut shut_down call_off break_off put_end
    no_longer enough finish turn_off done_with i_am_done not_needed give_up put_stop pull_plug drop never_mind
    knock_off interrupt
close finish complete resolve done quit shut : mark_as_done wrap_up sort_out sorted settle settled fixed taken_care
    is_done finish_off get_done tick_off cross_off check_off dealt_with solved handled tick over_with
pause wait sleep until suspend hold : give_it_moment hang_on hold_on stand_by till as_long_as let_it_finish sit_tight
open launch navigate goto visit : go_to bring_up pull_up head_over take_me surf_to get_me_to load
connect attach associate join ~ link relate : tie_together tie_to hook_up hook_to belong_together wire_up pair bind
    hang_together hang_on put_together glue chain
disconnect unlink detach ~ remove : cut_off break_connection untie unhook not_belong cut_link separate log_off
enable activate turn_on ~ toggle switch set : switch_on make_active put_on light_up start_using turn_on flip
disable deactivate turn_off ~ toggle switch : switch_off shut_off turn_off put_out block
toggle flip enable disable ~ switch : turn_on_or_off back_and_forth on_off switch_on switch_off
switch active checkout ~ select change : go_over_to change_to move_over work_on use_other jump_to hop use_another
    change_over make_current
use pick choose ~ apply select : go_with opt_for take decide
# Moving data
upload attach import ~ push add put : send_up put_up hang_on stick_on bring_in load_up send_over enclose supply
    hand_in submit
download fetch pull ~ export save get : get_onto_disk onto_my_disk to_my_computer to_my_machine to_disk keep_local
    get_hold copy_to_my store_locally grab off_server take_home local_copy get_out pull_down save_locally give_me_back
    hand_me_back
export dump ~ download save convert : get_out take_out get_out_of write_out spit_out as_file out_as hand_out
import load parse ~ upload create : bring_in read_in pull_in take_in bring_over slurp feed_in
save store keep persist ~ write put set : remember put_away hold_on_to write_down note_down for_later stash put_aside
    keep_for_later tuck_away retain park keep_for remember_under
restore recover revert undo rollback reset : roll_back go_back back_out bring_back take_back put_back turn_back
    return_to get_back step_back unwind rewind undelete previous_state earlier_state how_it_was as_it_was
backup dump ~ snapshot export save : safety_copy copy_in_case just_in_case safe_copy back_up put_in_safe
archive shelve ~ close : put_away store_away file_away out_of_sight mothball retire out_of_my_way put_in_attic stow
    get_out_of_way
sync synchronize pull match mirror ~ update : up_to_date bring_in_line keep_in_step same_as catch_up in_step line_up
    bring_up_to_date
convert transform translate ~ change : turn_into make_into change_into into_another in_form_of to_format rendered_as
    switch_format
translate language ~ convert : in_english into_german into_english into_french in_another_language
    what_does_it_mean_in put_into_english
parse ~ extract read analyze : make_sense_of take_apart pull_out get_out_of
extract scrape parse pull ~ get : pull_out get_out take_out lift_from draw_out pick_out fish_out get_out_of
sort order arrange rank position : put_in_order alphabetical alphabetically by_date from_a_to_z highest_first
    largest_first newest_first smallest line_up reorder
filter where ~ search query : only_those only_show narrow_down leave_out just_the_ones with_certain limited_to
    pick_out
group aggregate category : lump_together by_kind bundle sort_into bring_together put_into_groups group_by
format style ~ design apply layout : make_pretty look_nice pretty look prettier good_looking beautify how_it_looks
    looks make_look nicer appearance dress_up spruce
resize width scale fit ~ size : bigger smaller larger wider narrower how_wide shrink grow stretch make_bigger
    make_smaller make_wider enlarge dimension
scale replica resize : more_instances more_copies bigger smaller grow shrink how_many_copies number_of_copies
    more_capacity beef_up dial_up add_more_instances handle_more_load more_of
install deploy setup helm ~ add apply : set_up get_onto put_onto put_on get_running
uninstall ~ remove delete : take_off get_rid no_longer_want throw_off
upgrade bump newer ~ update version : newer_version latest_version bring_up_to_date move_to_newer step_up
deploy publish ship ~ release rollout apply : go_live put_live put_online push_to_production roll_out
    put_into_production get_out get_live bring_online
approve accept confirm review sign_off : say_yes ok okay agree give_go_ahead thumbs_up go_ahead green_light looks_good
    lgtm give_blessing wave_through rubber_stamp fine_by_me let_through
reject decline deny refuse unapprove dismiss : say_no turn_down not_agree withdraw_approval take_back_approval
    take_back_ok change_my_mind
review feedback approve ~ comment : go_over look_over what_do_you_think opinion second_pair_of_eyes critique
    give_thoughts
protect lock secure password ~ restrict : nobody_can no_one_can only_allow keep_out guard forbid prevent keep_from
    so_nobody safe_from shield must_not read_only keep_people
unprotect unlock ~ remove : let_again lift_protection take_off_lock open_again lift_the_lock
restrict limit constrain ~ permission allow : only_let only_certain keep_out allow_only who_may forbid validation
    permit only_permit
login auth authenticate authorize sign_in token ~ connect : log_in log_on sign_on get_in identify credentials
    log_me_in sign_me_in let_me_in prove_who_i_am
logout disconnect sign_out : log_out sign_off log_off
optimize improve tune recommend ~ performance : better make_faster speed_up polish enhance get_more_out
schedule book ~ plan event set : arrange plan_for set_time pencil_in slot put_in_diary fix_date
transition workflow ~ move status update : move_along to_done in_progress push_forward next_step move_forward
    take_to_next advance progress
highlight color emphasize ~ mark format : stress stand_out make_bold pick_out accentuate underline paint mark_yellow
mark ~ set flag update label : tick flag_as treat_as consider_as
play listen ~ audio : hear let_me_hear put_on blast
record capture ~ start log : film tape take_down note_down write_down
simulate mock emulate fake stub : pretend imitate as_if act_as_if make_believe act_like look_like dummy stand_in
    role_play try_out_without
trigger operation ~ run : set_off cause
activate enable discover : make_usable unlock
reserve allocate book claim : borrow get_hold set_aside put_aside hold check_out take_for_me
release free return unreserve : give_back hand_back let_go no_longer_need
batch bulk multiple many several : at_once all_at_once in_one_go together one_go same_time lots_of bunch whole_bunch
    dozen couple_of hundred several_at_once ten in_one_sweep mass en_masse handful
resolve discussion ~ thread close : sorted settled dealt_with has_been_addressed
increase raise increment : more bump_up higher turn_up
decrease reduce lower : less turn_down fewer cut_down
think reason thought sequentialthinking sequential : ponder mull work_through step_by_step reason_through
    think_through puzzle think_hard
"""
"""Things to do, a line for each: `names ~ related : synonyms`. The names are what tools call it, the best first; what
is related is weaker evidence of it; the synonyms are other ways in which people put it."""

THINGS = """
# People, teams and rights
user person people ~ member account profile users username author : who somebody someone colleague coworker teammate
    employee guy folks staff contact anyone everyone human role
whoami self authenticated user_info current_user ~ profile : who_am_i my_account my_own_account logged_in_as
    which_account signed_in_as my_login am_i_logged own_profile my_details who_i_am account_am_i
profile ~ user detail : about_person who_is job_title his_details her_details contact_details
member team ~ group board : belongs_to who_is_on who_is_in take_part participant who_works on_the_team belong
    in_my_team people_on people_in assignee
assignee assignable owner assign : responsible who_could who_can_take who_could_take in_charge
author creator comments_by writer : who_wrote written_by who_made by_whom person_who_wrote person
blame ~ author commit : who_wrote who_changed who_touched who_broke who_is_to_blame which_person line_by_line
    who_last_edited who_did_it person_responsible_for_line last_touched wrote
team organization workspace department namespace org ~ group tenant : staff crew squad company firm outfit
    organisation
role access ~ permission : rights who_may admin allowed_to
permission access share acl ~ restriction : who_can_see who_can_read who_can_edit who_may who_has_access allowed_to
    right rights privilege may_see may_open may_i am_i_allowed can_i visible_to private who_is_able
public shareable visibility everyone : anyone everybody whole_world open_to_all the_public outsiders strangers
    visible_to_everyone open
password secret credential protect encrypt : passphrase passcode locked
token credential secret auth ~ key : api_key access_key pat
login session sign_in : log_in
customer client contact lead company deal crm hubspot : account buyer prospect shopper patron business
    sales_opportunity clients person_we_sell
recipient sender allowlist ~ address allowed : to_whom receiver addressee who_may_i_write_to write_to from_whom
audit who_did activity ~ log history : who_did_what paper_trail track_record who_changed who_flipped who_touched trail
    who_did
# Code hosting and git
pull_request merge_request pr mr change_request ~ github gitlab : my_changes proposed_change code_review proposal
    contribution patch_of changeset
repository repo codebase ~ project github gitlab git : source_code code_base sources
git ~ repository commit : version_control source_control working_copy
github gitlab ~ repository git : code_host code_hosting forge
branch ~ git checkout : main_line trunk line_of_development feature_line main develop line_of_work side_line
default ~ branch : main_branch trunk_instead
commit changeset revision ~ git log : check_in checked_in checked change_set submitted_change committed what_went_in
commit ~ save record : check_in put_on_record
log ~ history commit git : what_has_been_done lately what_happened so_far past_changes who_did_what recently
diff difference compare patch ~ change : what_changed what_is_different altered what_did_i_change changed_lines
    what_would_change touched
unstaged working uncommitted ~ diff git status : not_yet_added not_added not_staged not_yet unsaved_changes
    in_my_working_copy not_yet_staged havent_added working_tree modified
staged ~ index diff add git : about_to_be_committed going_to_commit will_go_in ready_to_commit next_commit commit_next
    about_to_commit am_i_about_to_commit ready
stage ~ add index git : include_in_next_commit mark_for_commit queue_for_commit
status condition phase progress ~ state health : how_is how_are how_does_it_stand how_did how_far_along
    where_do_we_stand how_stand is_it_done still_running finished_yet ready_yet how_is_it_going how_goes went_through
    did_it_work passed is_it_finished done_yet come_out ok_or_not under_way where_does_it_stand
conflict clash ~ merge : collide fight_with cannot_be_merged stand_in_way
review approval feedback reviewer : opinion verdict thoughts_on_my_code said_about what_do_reviewers
approval approve ~ state : signed_off who_approved agreed who_said_yes how_many_approvals
fork repository ~ copy : own_copy my_own_version spin_off
clone ~ copy : replicate
tag ~ release version label : numbered_version
release milestone ~ version tag deploy : shipped shipment out_there what_is_out
blob ~ file content : raw_contents
tree structure hierarchy nested outline ~ directory : laid_out how_is_it_organised organised organized nesting
    layout_of_folders skeleton map_of
protected protect ~ branch : nobody_may_push locked_branch cannot_push force_push
code script program snippet function ~ source : programming software routine implementation
snippet gist ~ code : piece_of_code fragment
webhook callback hook : notify_url incoming_hook post_from_outside
lint validate ci config yaml : check_config check_pipeline_file mistakes_in_yaml
wiki ~ page confluence notion : knowledge_base handbook team_docs intranet wikipedia encyclopedia article notion
# Issues and planning
issue ticket bug story defect ~ task request jira linear github gitlab tracker : problem complaint work_item to_do
    piece_of_work trouble bug_report glitch job_to_do assignment report_bug file_bug file_ticket file_issue
    raise_ticket raise_issue open_ticket report_problem log_bug log_ticket tracker
todo done checklist ~ task : to_do to_dos things_to_do still_to_do pending_item errands on_my_list what_is_left chores
comment remark discussion reply ~ note annotation : said opinion thoughts say_something feedback on_the_side
    what_did_they_say wrote_about talk_about sentence_on observation what_i_said i_said
discussion ~ thread conversation comment note : talk back_and_forth debate exchange argument talked_about chat_about
draft unpublished pending : not_yet_sent unfinished rough_version not_yet_published half_finished preliminary
label category ~ tag color : sticker coloured_mark classify sort_of coloured_sticker colour_code keyword badge marker
milestone goal target deadline : due_by landmark stage_goal big_step checkpoint
epic initiative parent : big_story umbrella larger_piece big_topic
sprint iteration agile ~ board : two_weeks cycle fortnight current_round timebox this_round work_period
backlog later someday : pile not_now postpone for_later put_off push_back wait_list
board kanban ~ list trello jira agile : wall task_wall work_wall
card ticket ~ item trello : sticky post_it
list lane ~ column trello board : stack pile
checklist todo ~ item trello : tick_list steps_to_tick to_do_list points_to_tick things_to_tick tick tick_off
acceptance criteria checklist : definition_of_done when_is_it_done must_be_met conditions_for_done
watcher follower watch : who_follows who_is_following keeps_eye interested_people
worklog time_spent hour timesheet time_tracking : how_much_time how_many_hours put_in_hours book_hours log_hours
    worked_on hours_spent spent_hours time_i_spent clocked time_spent spent
sla response_time deadline : in_time on_time promised_time too_late breach promise_to_customer
dependency blocker ~ block link relate : waiting_for waits_for holds_up stand_in_way held_up depends_on in_way_of
    stuck_on blocked_by
link issue_link ~ relation connection dependency : tied_together connected belong_together hang_together related_to
    linked
priority severity urgency : how_urgent important how_bad
due date deadline : by_when until_when when_must when_is_it_due
transition workflow ~ status : which_states next_states can_i_move possible_moves where_can_it_go allowed_moves
changelog ~ history change version : what_happened_to who_changed_it past_changes what_was_done how_it_came
history past previous timeline revision ~ version change log : earlier over_time former used_to_be what_happened
    in_the_past story_of old_versions back_then who_edited_when how_it_used evolution
version revision ~ release : edition build_number
component module part ~ project : building_block piece
service_desk desk queue ~ customer request : help_desk helpdesk support_portal support_team user_support hotline
queue ~ line request desk : waiting_list who_is_waiting in_line
form proforma answer ~ field : questionnaire survey what_they_filled_in
custom ~ field property : own_field extra_field special_field additional_info our_own
field attribute option ~ property column : slot piece_of_information what_can_i_fill_in input value_of
option value choice ~ allowed : possible_values what_can_i_choose choices can_i_pick dropdown_values permitted_values
    valid_values pick_from alternatives
project workspace ~ team : undertaking endeavour
member_of ~ board : who_is_on
activity recent feed action ~ event history : happened lately going_on what_has_been_going what_has_happened
    what_is_new recently_done what_did_people_do been_up_to news_about busy_with
roadmap milestone ~ plan project : what_is_coming future_plans
estimate point story ~ size : effort
# Builds, releases, flags
pipeline workflow build ci ~ job run circleci : continuous_integration checks automated_build green red
build compile ~ job ci pipeline : make
job step ~ task pipeline : run
failure fail error failed crash exception ~ log : broken broke went_wrong goes_wrong red blew_up why_is_it_red trouble
    bug_out not_work does_not_work fell_over what_happened choke bombed turned_red blow_up wrong problem_in
test result ~ spec ci : check trial suite passed
flaky unreliable ~ test : unstable intermittent random sometimes_fail now_and_then on_and_off come_and_go sometimes
    green_and_sometimes fail_sometimes
artifact output result binary ~ file : what_it_produced built_files what_came_out by_product
rollback revert previous pipeline ~ version : go_back undo_the_release earlier_version last_good back_to_previous
    older_version
deployment deploy live ~ rollout release site netlify vercel hosting : go_live put_online published in_production ship
    hosting
environment env variable staging production ~ setting : dev_prod surroundings system_variables
variation variant : version_of alternative flavour flavor option
targeting audience percentage ~ rollout rule : who_gets who_sees which_users half_of_users percent_of_users
    part_of_the_users share_of_users percent
experiment variant ~ test : a_b_test try_out
config configuration option preference ~ setting : how_is_it_set_up set_up_file settings_of set_up
plugin extension addon : add_on module
package dependency module framework ~ library npm pip : lib third_party
library documentation package framework ~ docs context7 : how_do_i_use how_to_use usage_of
documentation guide manual reference help ~ docs doc : how_does_it_work instructions how_to explained tutorial
    handbook best_practices how_do_i read_up official_text learn_how cheat_sheet syntax
example sample snippet ~ code : show_me_how
# Databases
database db sql ~ data postgres mysql sqlite clickhouse mongodb : data_store base data_base postgres mongodb
    clickhouse
table base ~ relation : grid sheet
schema structure ~ column table mapping : shape what_columns which_columns which_fields what_fields how_is_it_built
    what_does_it_look_like data_types built_up made_up how_is_it_structured layout_of
column ~ field property : attribute
row ~ record entry document item line : line_of entries data_set
record ~ row entry object : data_set entry_in
collection ~ mongodb : set
document ~ record object mongodb elasticsearch : entry
index indices ~ indexes lookup : make_lookup_faster speed_up_queries quicker_lookups slow_query lookups_faster
    search_faster lookup fast faster what_can_i_search
query sql statement ~ select postgres database : question_to_database ask_the_data ask_database pull_numbers
aggregate sum average total statistic ~ group : per_month per_customer on_average by_group breakdown crunch roll_up
    per_user per_country
explain ~ plan performance query : why_is_query_slow slow_query how_would_it_run what_would_the_database_do
storage space disk ~ size stats : how_big how_much_space takes_up disk_space how_large room gigabytes
stats statistics ~ info metric : numbers figures key_figures
count length ~ number size : how_many
connection client ~ connect : who_is_connected attached hooked_up link
key value ~ entry redis : stored_under name_of_value
cache redis ~ key : cached in_memory_store remembered key_value
expire ttl expiration timeout lifetime : run_out self_destruct vanish_after die_after how_long_valid only_keep_for
    disappear_after after_an_hour forget_after time_limit go_stale goes_away lapse minutes_from_now
hash dictionary ~ map field redis : object_with_fields mapping
list queue lpush rpush lrange ~ redis : waiting_line front_of back_of
pop lpop rpop ~ remove : take_first take_last take_next take_from_front take_from_end next_in_line
push lpush rpush ~ append : put_at_front put_at_end line_up
set sadd smembers ~ member redis : unique_values belongs_to
sorted_set zadd zrange zset score rank : ranking leaderboard high_score top_players scoreboard highscore
stream xadd xrange xreadgroup ~ redis : event_log feed flow
publish subscribe ~ channel message redis : pub_sub
vector embedding similarity semantic : nearest_neighbours similar_meaning like_this_one nearest alike similar
semantic similarity vector ~ related : by_meaning similar_in_meaning same_idea not_exact_words alike
full_text ~ search text : whole_text free_text
shard replica ~ node elasticsearch : piece_of_index
mapping schema ~ field elasticsearch : which_fields
graph ~ node relation entity neo4j memory : network
cypher neo4j ~ graph node : graph_database connected_data
migration schema ~ convert : move_over
dynamodb aws ~ database : amazon_database
access_layer ~ code generate : data_classes
# Cloud, containers, kubernetes
kubernetes cluster ~ kubectl k8s pod node helm : k8 our_machines
pod container ~ kubernetes docker : instance
container docker ~ image pod : box
node machine ~ server cluster kubernetes : host box computer
drain cordon node_management maintenance : empty_node no_new_work out_of_service take_out_of_rotation
helm ~ chart release kubernetes : packaged_release package_of_manifests packaged
manifest yaml ~ apply resource kubernetes : definition_file
deployment replica ~ rollout kubernetes : running_version
context cluster ~ kubectl kubernetes : which_cluster other_cluster different_cluster
port port_forward forward tunnel : reach_locally from_my_laptop localhost make_reachable on_my_own_machine local
exec command shell terminal ~ run pod : type_command inside_container command_line inside_pod go_into console
namespace ~ kubernetes group : corner compartment
logs output console ~ log message stdout : what_did_it_write what_is_it_saying printed what_it_says what_did_it_print
    tail wrote journal stdout console trace
resource kind ~ api : thing what_kinds
ping connectivity alive ~ health check : is_it_up is_alive reachable responding still_there can_we_reach is_it_running
    answers up_and_running are_you_there still_alive up_or_down on_its_feet can_it_be_reached
health ~ check status : is_everything_ok all_right doing_well fine healthy is_all_well in_good_shape ill sick running
    up
aws amazon cloud : web_services
bucket s3 storage ~ object : file_store blob
lambda function serverless : cloud_function
instance vm ec2 machine ~ server : virtual_machine
cost price billing credit subscription spend ~ usage : how_much_does how_much_did expensive how_much_money
    what_does_it_cost pay charge bill cheap fees what_would_it_cost
usage credit quota limit subscription ~ account : how_much_left how_much_have_i_used used_up what_is_left
    how_many_left remaining budget run_out how_much_can_i_still plan_am_i_on allowance consumption still_have_left cpu
    machine quota size resource
network traffic http ~ request url : talk_to_server what_was_sent calls_to_server went_over_wire behind_the_scenes
    sent_to_server loaded_from requests talk_to went_over what_did_download
dns domain : web_name
certificate ssl tls : https
secret vault : hidden_value
# Monitoring and incidents
metric measurement series prometheus promql : numbers reading measured cpu_load how_loaded how_busy load cpu gauge
    how_much_load utilization
prometheus promql ~ metric grafana cloudwatch : time_series
label value attribute ~ prometheus loki : dimension
histogram percentile quantile latency : p99 p95 how_long_do_requests slowest distribution
latency duration slow speed ~ performance : how_slow how_fast response_time takes_so_long sluggish delay lag
    waiting_time too_slow takes_forever fast faster quick
log loki ~ logs logging cloudwatch grafana : what_was_written error_messages lines_written what_did_it_write
pattern anomaly ~ analyze log : recurring what_stands_out unusual strange odd keeps_coming
trace span tempo distributed ~ request : path_of_request journey_of_request where_is_time_spent slow_request
    way_through_services hop
profile pyroscope flame cpu ~ profiling : where_does_cpu_go hot_function burn_cpu eating_cpu flame_graph cpu_time
    which_function
alert warning ~ alarm rule grafana cloudwatch alerting : goes_off went_off fires ringing rings beep red_light woke_me
    firing sounding incident page
alarm active ~ alert history : went_off fired
silence mute suppress ~ alerting alert : quiet shut_up stop_ringing no_alerts during_maintenance keep_quiet hush
    leave_me_in_peace not_be_woken maintenance
incident outage ~ grafana : downtime breakdown emergency went_down disaster is_down catastrophe service_is_down
oncall on_call schedule shift ~ user grafana pager : who_is_on_duty on_duty who_has_pager who_do_i_wake who_to_call
    duty standby who_gets_paged whose_turn wake_up pager
shift schedule oncall rota : when_am_i_on turn duty_roster
dashboard panel ~ grafana : board_of_graphs overview_screen graphs control_room screens board
panel ~ chart graph image dashboard : tile
annotation ~ note mark grafana : marker remark_on_graph mark_on_the_graph note_on_graph event_on_graph highlight
datasource data_source ~ source grafana : where_numbers_come_from where_data_comes_from get_their_data feeds
    comes_from get_their_numbers get_numbers_from where_numbers numbers_from
snapshot ~ dashboard : frozen_copy frozen_moment
deeplink ~ link url generate : address_to_share jump_straight direct_link shortcut_to
threshold limit ~ alert : too_high too_low over_limit
routing contact_point notification policy ~ alerting : who_gets_notified who_gets_told where_do_alerts_go who_is_told
error exception crash failure ~ issue sentry : stack_trace bug_in_production blows_up exceptions users_ran_into
    went_wrong_in_production
crash report ~ log : app_died fell_over froze died blew_up quit_unexpectedly shut_itself
sentry error ~ issue : error_tracker bug_tracker crash_tracker error_tracking
root_cause seer ~ analyze issue : why_does_it what_is_behind how_to_fix why_did_it what_caused figure_out_why why
    reason cause
event occurrence ~ log : happening incident
uptime availability ~ health : how_often_down
security vulnerability audit : hole unsafe attack weak_spot
# Files
file ~ document text path filesystem drive : paper doc
directory folder dir path : place_for_files inside_of
size disk ~ sizes : how_big how_large takes_most_space biggest heaviest big_are how_many_bytes
content body ~ contents text read : inside what_is_in what_stands what_does_it_say innards
path attachment ~ location : where_is_it_stored where_on_disk where_does_it_live
media binary ~ image audio file : picture_or_sound
multiple batch ~ files : several_files
allowed roots access ~ directories : where_may_i which_folders_can may_you_read am_i_allowed_to_read
edit patch replace ~ line : change_line
write ~ save file put : put_down set_down
compress gzip zip archive : make_smaller squeeze pack shrink zipped packed
attachment enclosure ~ file : attached hanging_on paperclip file_that_came file_in_mail what_was_attached
backup restore ~ snapshot : safety
drive cloud google_drive workspace ~ file : cloud_storage google_docs my_cloud g_drive
shortcut ~ link : jump
trash ~ delete : bin
recent latest newest last modified ~ changed : lately new_ones freshest last_few fresh what_is_new added_lately
    past_few_days since_yesterday this_week newly not_long_ago these_days current now recently
binary base64 ~ data : raw_bytes
# Web, browser, search
web internet online ~ search : net google world_wide www on_the_net
web_search internet ~ search web brave tavily exa : google look_it_up online find_on_the_net look_online
    ask_the_internet what_does_the_internet look_around_the_web google_something find_out_online who_won
news headline current_event ~ article : in_the_papers press what_happened_today latest_from
    what_is_happening_in_the_world newspaper reports_about headlines breaking
page webpage website ~ site url web : homepage address web_page internet_page link_address
url ~ address link page : web_address where_am_i which_page what_site where_does_it_point
fetch scrape ~ url page content extract web : get_page text_of_page read_this_site read_that_page what_is_on_this_site
scrape crawl firecrawl tavily ~ extract : rip harvest pull_content grab_page copy_from_site strip_text
    all_text_from_site content_of_site
crawl website ~ site map : whole_site entire_site all_pages every_page follow_links_through walk_through_site
    complete_website spider
map sitemap ~ url site firecrawl tavily : all_links which_pages_has what_pages every_address pages_there_are
    structure_of_site
research deep report investigate ~ agent : dig_deep in_depth thorough find_out_everything study background_check
    look_into_thoroughly long_answer dig
browser ~ page tab playwright chrome puppeteer browserbase : firefox safari surf web_window chrome playwright
tab ~ page browser select : window other_window open_windows
navigate goto ~ open url page : go_to visit surf_to take_me_to call_up bring_up head_to type_address
back navigate previous : go_back page_before last_page return_to one_page_back
click press tap button ~ push : hit touch choose_button finger hold
hover mouse : mouse_over point_at pointer_over without_clicking move_mouse rest_mouse cursor_over point
drag drop ~ move : pull_over drag_and_drop grab_and_drop pull_onto
type fill input ~ text key : enter write_into keyboard key_in put_text write_in_box
fill form input ~ field : fill_in fill_out enter_into complete_form put_my_name write_into_fields
select option dropdown choose : pick_from choose_from drop_down pick menu
swipe scroll : flick slide_finger further_down move_down_the_page wipe_over scroll_down
screenshot capture ~ snapshot image screen : picture_of photo_of_page photo_of_screen snap screen_grab screen_shot
    what_does_it_look_like show_me_the_screen what_is_on_screen what_do_you_see print_screen screen_capture
    what_can_be_seen looks_like photo shot
screen_recording screencast ~ recording record video screen : film_screen film_what video_of record_screen film
    video_of_screen movie_of tape_screen film_the record_video
snapshot accessibility ~ element page : elements_on_page what_can_i_click what_is_on_the_page page_structure
element ~ screen list : buttons_on what_can_i_tap what_is_shown which_buttons
dialog popup prompt confirm ~ alert : pop_up are_you_sure box_that_pops ok_cancel window_that_popped message_box
    javascript_box pops_up asks_me_to_confirm
console javascript ~ message log browser devtools : browser_errors developer_console javascript_errors
    what_was_printed printed devtools
evaluate script javascript ~ run code : run_js own_code some_javascript piece_of_script little_script
upload ~ file browser : give_file choose_file
wait wait_for until ~ text : until_it_appears till_shows finished_loading until_gone hold_on_until appears
resize window viewport ~ size : make_window smaller_window bigger_window narrow
emulate media viewport throttle ~ device mobile : pretend_to_be_phone slow_connection dark_mode slow_network
    as_on_phone how_it_looks_on_phone act_like_phone colour_scheme weak_signal print_view
performance insight speed lighthouse ~ trace : load_time page_speed why_is_page_slow how_fast_does_it_load
    loads_slowly takes_so_long
lighthouse audit accessibility seo score : quality_of_page how_good_is_site marks_for_site grade check_quality
heap memory heapsnapshot leak : ram eat_memory memory_hungry grows_and_grows
css style computed : appearance look which_font what_colour how_is_it_styled
session ~ browser start close : visit sitting
cookie storage session : remembered_login
proxy network : in_between
observe action ~ element : what_could_i_do possible_actions
act action perform click : do_something do_on_page
agent autonomous ~ task : bot robot assistant do_it_for_me on_its_own by_itself let_machine
image picture photo figure drawing icon illustration : pic graphic visual logo
video film movie clip : footage recording youtube
transcript subtitle caption youtube speech_to_text transcribe : what_is_said what_did_they_say spoken_words
    said_in_video text_of_video words_of_video what_do_they_say
youtube transcript ~ video : clip tube
place local restaurant shop business nearby search_places ~ location : cafe hotel venue around_here close_by near_me
    where_can_i_eat where_can_i_get pub pharmacy eat drink pizza coffee nearest in_the_neighbourhood in_the_area
    bakery grab_bite somewhere_to_eat close_to
opening_hours place ~ details : open_until when_does_it_open phone_number rating reviews is_it_open how_late
    closing_time
# Maps, weather, travel, time
direction route navigation travel ~ maps : way how_do_i_get way_to get_from_to drive walk_to path_from journey trip
    how_to_get by_car on_foot by_bike turn_by_turn get_there how_long
distance duration distance_matrix matrix travel : how_far how_long_to_drive how_long_does_it_take
    how_long_would_it_take drive_time miles kilometers kilometres away how_many_miles travel_time far_apart
    how_long_is_the_drive walking_time far how_long
geocode coordinate latitude longitude ~ address : where_is lat_long lat_lng position_of gps_of on_the_map whereabouts
    lat long where_on_earth exact_spot
reverse_geocode coordinate ~ address : which_address what_is_at street_name what_street what_place_is_this
    address_of_spot where_am_i what_is_here
elevation altitude height : how_high above_sea_level sea_level metres_up how_tall high
location gps coordinate position : place_where whereabouts spot pretend_to_be_in as_if_in fake_position latitude city
    town country
country region city place : town land nation
weather forecast temperature climate : rain sunny umbrella snow how_warm how_cold storm wind will_it_rain outside
    what_to_wear sunshine degrees hot_today
temperature climate thermostat heating sensor ~ state home weather entity : how_warm how_cold how_hot degrees warm
    cold chilly hot heat freezing cosy cool
time clock current_time date now : what_time_is_it hour o_clock how_late today what_day which_day how_late_is_it
timezone time_zone convert_time time : local_time over_there in_other_city in_tokyo in_new_york time_difference abroad
    what_time_is_it_in across_zones their_time
flight ticket travel : fly plane airline airport
hotel accommodation booking : stay room_for_night place_to_stay lodging
train bus transit transport : public_transport timetable
translation language : foreign
currency exchange rate ~ convert : dollars euros
# Mail, chat, calendar
email mail mailbox inbox imap ~ message : e_mail letter post_box electronic_letter mails write_to correspondence
mailbox folder imap ~ label : mail_folder inbox spam_folder box
unread ~ read flag mark email : seen not_yet_read new_mail opened have_read
draft ~ save email : not_send_yet unsent write_but_not_send send_later finish_later prepare_letter
flag star important ~ mark email : follow_up remember_to_answer come_back_to
spam junk : unwanted_mail
attachment ~ content download email : what_was_attached file_in_mail
message chat dm ~ text post slack discord telegram : word_to line_to note_to say_hi greet telegram
slack ~ channel message : work_chat company_chat
discord ~ channel server message : guild gamer_chat community_chat
channel room ~ conversation slack discord : chat_room group_chat place_to_talk general
thread reply ~ conversation slack : answers_under underneath below_message responses follow_up
forum ~ post thread discord : board topic discussion_board
reaction emoji ~ slack discord : smiley smileys thumbs_up heart like react_with party smile face applaud applause
    thumb little_face
history ~ message channel read : what_has_been_said what_was_said what_did_people_write last_messages catch_me_up
    missed conversation_so_far scroll_back talked_about what_did_i_miss
server guild ~ info discord : community
category ~ channel discord : section
calendar schedule agenda ~ event google : diary appointments planner
event meeting appointment calendar : date get_together call_with lunch sit_down session_with engagement party
    gathering what_is_on what_do_i_have_on on_my_schedule what_have_i_got_on tomorrow today friday monday this_week
    this_afternoon what_have_i_got have_i_got_on my_day am_i_busy
freebusy free busy availability ~ available : has_time have_time when_can_we_meet open_slot when_is_everyone_free
    when_are_they_free gap_in free_slot who_is_free time_for
out_of_office vacation holiday leave away absence : on_leave day_off off_work not_in not_at_work on_vacation be_away
    beach
contact ~ phone address : address_book
phone call telephone outbound : ring ring_up dial phone_up give_ring on_the_phone give_call
sms ~ text message : text_message
# Documents, sheets, slides, notes
document word docx ~ doc : letter contract manuscript essay report text_file paper_document write_up
paragraph passage ~ text line : block_of_text sentence bit_of_text
heading header title ~ section : headline caption chapter_title sub_title
footnote endnote : note_at_bottom bottom_of_page at_foot little_numbers source_note small_print at_end_of_document
    end_of_document_note fine_print reference_below
style font bold italic ~ format formatting : typeface letters look thick slanted colour underline
font typeface ~ format : letters lettering
table ~ cell row column word : grid box
width fit ~ column table : wide broad narrow how_wide fit_content
alignment align center table_cell : left_right middle centre in_the_middle flush
padding margin ~ cell : room_around space_inside breathing_room white_space
shading color background ~ cell : colour_in paint tint shade backdrop fill_colour
outline heading structure toc ~ section : chapters table_of_contents contents which_parts bird_eye what_sections
    how_is_it_built parts chapters_are overview
section chapter part : portion piece_of bit
pdf ~ convert document : acrobat print_ready printable
protect password ~ document : nobody_can_edit lock locked read_only
comment ~ document author : remarks_in_margin margin_notes side_notes reviewer_remarks
picture ~ image insert add : photo
xml raw ~ document : under_the_hood markup
spreadsheet workbook sheet excel worksheet xlsx ~ airtable : calc grid google_sheet numbers_file airtable
sheet worksheet ~ tab excel workbook : tab_of_workbook page_of_spreadsheet
cell ~ range excel sheet : box field squares a1
range ~ cell rows excel : block_of_cells area part_of_sheet
formula calculation ~ trace excel : how_is_it_calculated where_does_number_come_from comes_from computed
chart plot diagram ~ graph : bars pie curve line_diagram visualise visualize picture_of_numbers bar_chart draw
    pie_chart
sparkline trend ~ chart : tiny_chart mini_chart little_curve small_graph
slicer ~ filter table : click_to_filter filter_button
note ~ cell comment : remark_on_cell
csv comma_separated import ~ export : text_table plain_table
vba macro script : code_in_workbook
freeze sheet ~ layout : keep_header_visible
presentation powerpoint deck ppt pptx ~ slide : talk slideshow pitch keynote slides_for
slide ~ powerpoint presentation : page_of_deck
template blueprint ~ layout : ready_made sample pattern pre_made master boilerplate starting_point standard_form mould
transition effect animation ~ slide : fade how_slides_change between_slides wipe moving_from
shape connector draw : box circle arrow line_between rectangle star triangle
connector shape ~ line : arrow_between join_with_line link_boxes
hyperlink ~ link url : clickable point_to make_clickable web_address web_link
placeholder fill populate ~ text : empty_box
design theme professional color : look_good pretty make_over style_up polished business_like
master slide_master ~ layout : all_slides_share
font manage : letters
notion ~ page block database : second_brain
block paragraph ~ content notion : piece_of_page
note obsidian ~ page vault : jotting memo write_down
vault obsidian ~ note : notebook my_notes markdown_notes zettelkasten journal diary
frontmatter ~ property metadata note : header_of_note top_of_note properties_of_note
append ~ note content : add_to_bottom
tag ~ note search : hashtag marked_with
parent child ~ page move : under_which sits_under above
child children nested sub : below underneath beneath sub_pages inside_of subordinate lie_under sits_below under
space wiki ~ confluence : area
confluence wiki ~ page : company_wiki team_wiki knowledge_base intranet
restriction ~ page permission : who_may_read
inline ~ comment : remark_next_to_sentence beside_text on_particular_words
markdown md ~ text : plain_md plain_text
# Literature and knowledge
paper publication study preprint ~ article arxiv zotero : scientific_work scholarly research_work academic_text
    literature science_paper work arxiv
arxiv ~ paper search : preprint_server
abstract ~ summary paper : what_is_it_about short_description blurb
citation cite reference ~ graph : who_quotes quoted_by builds_on based_on who_refers cited_by references_of
    who_used_it influenced stands_on
bibliography citation bibtex ~ export : list_of_sources reference_list works_cited source_list literature_list sources
related similar topic ~ paper : like_this_one same_vein comparable more_like_this others_like alike further_reading
    connected_to like
latex equation ~ source paper : formulas tex math_of
read_paper fulltext full_text ~ text : whole_paper complete_text whole_thing word_for_word whole entire
library zotero ~ collection item : reference_manager my_books my_papers literature_collection bibliography_program
    my_literature
collection folder ~ zotero library : shelf pile
annotation highlight ~ note zotero pdf : marked_passage underlined what_did_i_mark passages_i_marked yellow_marks
    what_i_highlighted my_marks scribble
item ~ entry metadata zotero : book title_in_library
topic watch subject ~ alert arxiv : field theme area_of_interest
encyclopedia wikipedia ~ article : lexicon general_knowledge look_up_person wiki
fact key_fact ~ extract wikipedia : most_important things_to_know nuggets trivia main_points
link wikipedia ~ article : points_to refers_to
entity ~ node object memory graph : thing person
memory knowledge_graph knowledge observation ~ graph : remember recall what_do_you_know known_about memorize memorise
    keep_in_mind note_about brain know_about_me forgot told_you forget
observation fact ~ add memory : detail_about learned remember_that told_you birthday
relation relationship edge ~ memory : knows_each_other how_are_they_connected tie works_for is_friend_of
    connected_with
knowledge knowledge_base ~ source docs : what_it_knows
# Smart home, devices, media
home_assistant ha smart_home home ~ entity : house flat apartment room bedroom kitchen living_room garage bathroom
    garden hallway office_lamp door sensor temperature thermostat heating
light lamp call_service control ~ home entity ha : bulb brightness bright dim dark
state sensor ~ entity ha home : is_door_open is_light_on still_on battery_level motion is_it_on how_much_power
    humidity closed
bulk control many ~ ha : all_lights every_lamp everything_off all_of_the_lights
automation trigger ~ rule ha home : when_then by_itself automatically whenever if_this every_evening at_sunset
    every_morning
script routine sequence ~ ha home : series_of_steps
helper input ~ ha config : virtual_switch counter timer
logbook ~ history ha home : what_happened_at_home who_opened
template eval jinja ~ ha : expression
entity ~ device ha home : gadgets which_devices appliances
mobile android ios iphone ~ phone device : handset smartphone tablet cellphone cell simulator emulator farm
device ~ available list mobile : phones_connected plugged_in which_phones hooked_up
app application ~ mobile : program software
foreground app current ~ mobile : which_app_is_open open_right_now in_front on_top what_is_open
launch app ~ open mobile : start_app tap_icon
orientation rotate landscape portrait ~ screen : sideways turn_phone on_its_side upright lying
clipboard paste ~ copy mobile : copied cut_buffer what_i_copied
screen display ~ mobile : monitor glass
audio sound ~ elevenlabs : noise
speech text_to_speech tts ~ voice elevenlabs audio : read_aloud out_loud spoken say_aloud read_out speak_text aloud
    narrate let_speak talk voice_over spoken_words speak narrator narration
speech_to_text transcribe transcript : what_was_said write_down_what dictation recording_to_text
    put_recording_into_words typed_up voice_memo written_form type_up minutes_of in_writing
voice speaker clone ~ elevenlabs : how_it_sounds sound_like_me my_own_voice imitate_voice narrators sounds_like_me
    mimic
isolate noise ~ audio : remove_background background_noise clean_recording noisy without_music only_voice hiss
music song compose track ~ composition : tune melody soundtrack score jingle piece_of_music beat
play ~ audio : hear listen_to
conversation transcript ~ agent elevenlabs : call_with_customer talk dialogue phone_conversation what_did_the_caller
    caller call
agent assistant bot ~ elevenlabs : phone_assistant voice_bot receptionist
model ~ available list : which_models
podcast episode : show
camera photo : shot
design figma mockup ~ layout : wireframe sketch_of_screen ui_draft prototype screen_design designer
figma asset ~ image download : icons_from_design graphics_from_design
component ~ figma design : ui_piece
# Business, money, shop
payment invoice charge transaction billing ~ stripe : pay money bill owe paid
refund payment return : money_back give_back pay_back
subscription ~ plan customer billing : monthly_fee membership recurring
product price catalog ~ item shop : goods article merchandise
order purchase checkout ~ shop : bought buy basket
cart basket checkout : shopping
inventory stock product : left_in_store on_hand
revenue sales income report : how_much_did_we_make earnings turnover profit earned
stock share price market finance : ticker shares
account balance bank : how_much_money_do_i_have
contact company deal ~ customer crm hubspot : business_partner
deal opportunity pipeline ~ crm : sale
engagement call ~ note task hubspot : logged_call talked_to interaction touch_point record_of_talk activity
association ~ relation link hubspot : who_works_where belongs_to_company which_contacts_belong connected_to
property ~ field hubspot : piece_of_info attribute
object ~ record hubspot crm : entries contacts_companies
campaign marketing ad : advert advertising
analytics report visitor traffic : how_many_visitors page_hits audience_numbers
lead prospect contact : interested_person
feedback survey ~ link : tell_the_makers complain suggestion_to_makers opinion
employee hr staff : worker
ticket support ~ customer : complaint
# APIs, agents, the rest
api rest endpoint http ~ request postman : interface call_our_service postman
collection ~ request postman api : bundle_of_calls set_of_calls api_calls saved_calls group_of_requests
spec specification openapi swagger definition ~ api postman : contract api_description blueprint interface_description
mock fake ~ server postman api : pretend_server dummy_server stand_in fake_backend fake_answers
response answer example ~ api : sample_answer what_comes_back reply_of
environment variable ~ postman : set_of_values base_urls
workspace ~ postman : working_area
sync ~ spec collection postman : bring_in_line match_again
tool enabled discover capability ~ available : what_can_you_do what_can_i_do which_functions which_commands
    more_functions features abilities what_is_possible kind
capability ~ write allowed permission : am_i_allowed may_you_write can_it_write
echo ~ test message : say_back repeat_after parrot same_words
sum math ~ add number : plus addition total_of two_numbers
resource reference ~ link : pointer
progress long_running operation ~ status : how_far percent
task operation ~ job status : assignment
structured_content json ~ data : machine_readable
json ~ data field : structured
site deploy ~ project netlify : web_project homepage hosting
domain ~ url site : web_address
extension plugin ~ netlify : add_on
region zone ~ location : data_centre
course lesson education : class learn school student
health medical patient : doctor illness medicine
recipe food cook : meal dish dinner
game player score : play
legal law case : court
sports match score : game_result
random ~ number generate : dice coin
unit measure ~ convert : inches pounds celsius fahrenheit
type kind class category : sort_of what_kinds what_sort
data information fact ~ info detail metadata : facts
item thing ~ element entry : stuff
view seen looked visit : looked_at
advanced complex ~ search filter : with_conditions all_at_once
horizontal ~ row merge : side_by_side next_to_each_other neighbouring neighboring
vertical ~ column merge : on_top_of_each_other below_each_other
after before near ~ text : right_behind just_before next_to
"""
"""What is talked of, in lines of the same kind."""

FORMS = """
write wrote written writing; send sent; make made; tell told; say said; find found; keep kept; buy bought; pay paid
build built; break broke broken; choose chose chosen; draw drew drawn; fall fell; hold held; hide hid hidden
know knew known; leave left; lose lost; meet met; speak spoke spoken; take took taken; think thought
throw threw thrown; give gave given; go went gone; come came; get got gotten; see saw seen; do did done; run ran
begin began begun; forget forgot forgotten; show shown; spend spent; teach taught; catch caught; feel felt; hear heard
sell sold; stand stood; understand understood; bring brought; stick stuck; set setup; have has had; be was were been
ring rang; hang hung; sit sat; drive drove driven; fly flew flown; eat ate eaten; lead led; wake woke; shut shutting
color colour colours coloured colored; organize organise organised organising; center centre; organization organisation
summarize summarise; analyze analyse analysing; categorize categorise; visualize visualise; optimize optimise
synchronize synchronise; customize customise; favorite favourite; catalog catalogue; gray grey; program programme
person persons; what whats; not dont isnt doesnt cant; picture pictures pics pic; number nr; repository repositories
information infos; document documents docs; message msg; configuration cfg; directory directories
"""
"""A word, and others that are forms or spellings of it."""

FILLERS = """
a an the my our your his her their its this that these those some any of me us please
"""
"""Words that may stand anywhere in a phrase."""

LIGHT = """
get take give put make have go come look let turn keep bring hand throw set how what who where when which why do be see
tell say find out up down off on in over away back show know leave hold pull run call want need use all one more much
many long far big new old good right left way thing last next first work other another same only now people something
anything everything different own try happen still yet
"""
"""Words that say little inside a phrase."""

PLAIN = """
able above accepted accessible accident accidentally according accounts acknowledge across act actually addons
addresses affected afraid afternoon age agents ago air alarming alarms alice almost alone along already also
alternating always among analyzer anew anna annotated annotations anomalies answered anybody anything apart apple apps
april arbitrary area arm around arrive article articles artifacts asia asked assertion assigned assistants
associations attachments august aunt auto automatic automations autumn baby backends backwards bad bag ball band bang
bar barber bases beach bear beat beautiful become bed bedtime before behalf behind being believe bell below berlin
beside best better beyond bicycle big bill bird birth birthday bit black blinds blocks blood blow blowing blue
blueprints boat bob body bone boot borders bored boring born boss both bother bots bottle bottom bowl boy brain
branches brand brave bread breakfast breaks bridge bright brighter bring brother brown brush budget bugs bullet
bundles burn burned burning bus busy butter cake calendars calm came camp candle cap captain car cards care carry case
cat cause causes center century certain chair chance changelogs characters charts cheap cheapest checkpoints cheese
chicken chief child children church circle cites city class clear clever clicked climb clips cloning closes closest
cloud coat coder coding coffee cold collect collections college color colours comfort commented commits common
complaining concentrate conditional conflicts connections consumed consumer containers contains contributions
conventions conversations cook cooler coordinates core corn corner correcting counters country couple courage course
cover covered cow crashed crashes crashing crawling creak cream created credits criticise cross crossed crowd cry cup
currently curtain curve customers customize cut dad daily dance danger dark dashboards databases datasources dates
daughter day dead dear december decide declare deep deer defined deleted dentist depend dependencies depending desk
developers differently dimensions dinner directions directly dirt dish disturb doctor documents dog dollar door dots
double doubt down dream dress drink drip drive dropped drops drug dry duck dust duty each ear early earn earth east
easy eat eats edge edges editions edits effects egg eight either electric elephant else emails embed empty enemy
energy engine engineer enjoy enough enter entities enumerated environments equal escape europe even evening events
ever everybody everyone everywhere evil exam exceed excuse existing exists expect explosion eye face fact failing fair
fall family famous fan fancy far farm farmer fast fat father fear feather february feed feel female few fight film
final fine finger fire first fish fishy fit five fix fixing flag flags flat float floor flower fly focus foggy follow
followed fonts food foot football footsteps foreign forest fork former forms forty forward found founders four fox
free frequently friday friend friends from front fruit full fun funny furniture future game garden gate gather general
generation generic gentle gift girl gives glad glass glow goals gold good grass gray great green ground grow growing
guess guest guide guilty gun guy habit hair haircut half hall hand hangs happen happy hard hat hate he head headers
heal healthy heart heat heater heaven heavy hello help helpers hen her hide high hill him hobby holes holiday honest
honey hooks hope horse hospital hoster hot hotels hotkey hour house huge human hundred hungry hurry hurt husband
hushed hybrid ice idea identifier idle ignore images important incorrect informing inside insights installed interact
introduction invented invitation iron island issues items iterations january jazz job jobs john joke juice july jump
june keeping keys keystroke keywords kilobytes kind king kiss kitchen knee knife labels lady lake lamp lamps land
language large last late later laugh law lazy leads leaf learn least leather leave leg lemon lesson letter level lie
life lift light liked likes lion lip listeners little live liven local london lonely long lord lost lot loud louder
love low luck lunch macros mad magic mailed main makes male man managed mandatory many march mark market married mary
master matter maybe meal mean meat medicine meet meetings member members men mend menu metal midnight might mile milk
million mind mine minute mirror miss mistake mix modern mom moment monday money monkey month moon more morning most
mother mountain mouse mouth moved much mud must muted nail named names namespaces narrow nation natural nature near
nearly neck need needle needs neighbor neighbour never nice nickname night nights nine nobody nodes noise none noon
normal north nose nothing november now nurse objects observations obvious occur occurrences ocean october offer office
often oil old once onion only onto opens operate orange order ordered orders organizations other otherwise outages
outcome outdated outside oven over overflows oversized own owns page pain paint pair pan parcel parent paris park
party past patterns paul paying payments peace pen pencil peoples pepper perfect perhaps period periodic permissions
pet peter photos piano pick pictures piece pig pilot pin pink pipelines pivot pixels plane planned plant plate
playlist please plenty plumber pocket pods poison police polite pool poor popular possible potato pound power pressed
pretty price prices prince print printing prison prize probably problems process processed processes products profiled
programmer programs projects promise proper proud provisioning public pull pupil pure purple purpose push pushing
queen question quick quiet quieter quite quote race radio rain raining raise ran rather reach reader readers readme
real really reason recipients recognise recolor recolour recommended reconnect records red reflection relations
remarked reminder remote render repair replicas reported repos required reschedule resolution rest restaurants
restrictions results reusable revoke rice rich ride right ring river road rock roof room root rose round rounds rule
rules runs sad safe sail salt same samples sand saturday saw scared scene schedules school science scores scrapes
screenshots scrolling sea season seasonality seat second seconds secret seed seem sell selling sensors separately
september serious serve served servers sets seven several shade shadow shake shall shards shared sharing sharp she
sheep ship shirt shoe shoot shop shore short shoulder shout shower shutter sick side silences silver simple simulated
since sing single sister sit sites six size skill skin skirt sky sleep slip slow slowly slows small smarten smell
smile smoke snake snow soap sock soft sold soldier somebody something sometimes somewhere song songs soon sorry sound
soup south spare sparklines special spell spice spoon sport spot spreadsheets spring sprints square stair stamp star
started station stay stays steal steam stickers stone store stores storm story strange streams street striped stripes
strong student studies stupid styles subjects subscribed such sudden sugar suit suitable summarise summarizer summer
sun sunday sunny superfluous supposed sure surface surprise suspicious sweet swim switched switches sword sydney
synthesize table tables tabs tagged tags tail taking talking tall taps tasks taste tea teach teacher team teams tear
television templates ten tennis term terrible tests textfile thank thanks theirs them thesis thick thief thin thinking
thirsty thirty thousand three throughout thrown thunder thursday ticket tickets tie tiger tight till timers times tin
tiny tired today toe together tokyo tom tomato tomorrow tongue tonight too took tool tools tooth top topics total
totals touch touching tower town toy traces tracked trade train transitions transpose travel tree trip trouble true
trust truth tuesday twelve twenty twice two type ugly uncle understand underused undisturbed unhealthy uninterrupted
unit unmark unmerged unsolved unstage until unused updates upon upset upside useful useless uses usual vacuum valley
very views village vision visit visited visits voice voices volume walk wall war warm warmer warned wash washing waste
wasted watched water ways weak weaknesses wear wednesday week weekend weekly weight weird welcome well west wet wheel
white whole whom whose why wide wife wild win wind window wine winner winter wise wish within without woman women won
wonder wood word workers workspaces world worry worst worth writes wrong yard year yellow yes yesterday yet york young
zebra zero zoo
"""
"""Everyday words that mean nothing here: no slips of the words above."""

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
"""Words that say nothing in a request."""
